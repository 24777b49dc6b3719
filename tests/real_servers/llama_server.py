"""llama.cpp's own server with a tiny model of random weights; a program for the servers' environment.

    python llama_server.py MODEL make [endless]
    python llama_server.py MODEL serve CONTEXT SLOTS [KEY]

`serve` writes its address to standard output and ends with its standard input. The model knows the printable characters
and some words as tokens, and every other byte; most of its answers end after some hundred words, those of one made
`endless` at their bound. Calls of tools and JSON come out right because the server holds the model to their grammar.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

SEED = 7
WIDTH = 64
TRAINED_CONTEXT = 131_072
WORDS = "the a file line code test fix value name list read edit run done error call item text path data".split()
CALL = "<tool_call>"
TEMPLATE = """\
{%- if tools %}<|im_start|>system
Tools, one JSON object a line:
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}Call one with: <tool_call>{"name": "its name", "arguments": {}}</tool_call><|im_end|>
{% endif %}{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content or '' }}{% for call in message.tool_calls or [] %}{% set wanted = call.function %}
<tool_call>{"name": "{{ wanted.name }}", "arguments": {{ wanted.arguments | tojson }}}</tool_call>{% endfor %}<|im_end|>
{% endfor %}{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def make(path: Path, *, endless: bool) -> None:
    """Write the model."""
    import gguf  # type: ignore[import-not-found]
    import numpy  # type: ignore[import-not-found]

    characters = [chr(number) for number in range(33, 127)] + ["\u2581", "\n"]
    known = [*characters, *("\u2581" + word for word in WORDS), CALL]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{number:02X}>" for number in range(256)), *known]
    kinds = gguf.TokenType
    types = [
        kinds.UNKNOWN,
        kinds.CONTROL,
        kinds.CONTROL,
        *[kinds.BYTE] * 256,
        *[kinds.NORMAL] * (len(known) - 1),
        kinds.USER_DEFINED,
    ]
    random = numpy.random.default_rng(SEED)

    def weights(rows: int, spread: float) -> Any:
        return random.normal(0, spread, (rows, WIDTH)).astype(numpy.float32)

    # The first dimension is the same for every token that comes in, so it says how likely each one is to go out.
    into, out = weights(len(tokens), 0.3), weights(len(tokens), 0.3)
    into[:, 0] = 3
    out[:, 0] = -3
    out[len(tokens) - len(known) :, 0] = 0
    out[len(tokens) - len(WORDS) - 1 :, 0] = 0.5
    for token, likely in (('"', 0.6), (CALL, 0.5), ("</s>", -3 if endless else 0.5)):
        out[tokens.index(token)] = 0
        out[tokens.index(token), 0] = likely

    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("tiny")
    writer.add_context_length(TRAINED_CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(WIDTH // 2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(number) for number in range(len(tokens))])
    writer.add_token_types(types)
    writer.add_bos_token_id(tokens.index("<s>"))
    writer.add_eos_token_id(tokens.index("</s>"))
    writer.add_unk_token_id(tokens.index("<unk>"))
    writer.add_chat_template(TEMPLATE)
    writer.add_tensor("token_embd.weight", into)
    writer.add_tensor("output.weight", out)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, numpy.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        writer.add_tensor(f"blk.0.{name}.weight", weights(WIDTH, 0.05))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path: Path, context: int, slots: int, *keys: str) -> None:
    """Serve the model until standard input ends."""
    import xllamacpp  # type: ignore[import-not-found]

    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.model_alias = {"tiny"}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.use_jinja = True
    settings.n_ctx = context
    settings.n_parallel = slots
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.sampling.seed = SEED
    settings.api_keys = list(keys)
    server = xllamacpp.Server(settings)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    model, what, *given = sys.argv[1:]
    if what == "make":
        make(Path(model), endless="endless" in given)
    else:
        serve(Path(model), int(given[0]), int(given[1]), *given[2:])
