"""Parts shared by the engines that call a model server."""
