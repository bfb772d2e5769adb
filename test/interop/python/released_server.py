"""The released model server, started by its own entry point: `released_server.py <folder of the ledger>`, its settings in the environment.

The ledger is installed through the package's API instead of its `lineage_store` setting, which works from Python 3.12 on only.
"""

import sys

from nemo_gym.token_id_capture import FileLineageStore, install_lineage_store
from responses_api_models.vllm_model.app import VLLMModel

install_lineage_store(FileLineageStore(sys.argv[1]))
VLLMModel.run_webserver()
