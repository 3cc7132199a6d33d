"""The record of the models that write freely: policies where words that do not matter vary."""
