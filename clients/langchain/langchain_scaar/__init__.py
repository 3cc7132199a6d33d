"""LangChain's interfaces of scaar: a retriever and a tool that answers questions."""

from langchain_scaar.answer import ScaarAnswer
from langchain_scaar.retriever import ScaarRetriever

__version__ = "0.1.0"
__all__ = ["ScaarAnswer", "ScaarRetriever"]
