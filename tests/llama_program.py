"""llama.cpp's own server with a tiny model of random weights: run by the python of `.venv-llama`.

`python tests/llama_program.py FOLDER` makes the model in the folder, serves it and prints the
address; it ends when its input ends. Nothing is downloaded.
"""

import sys
from pathlib import Path

import gguf  # type: ignore[import-not-found]
import numpy as np
import xllamacpp  # type: ignore[import-not-found]

WIDTH, LAYERS, HEADS, CONTEXT = 32, 1, 2, 65536
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
SPECIAL = ["<unk>", "<s>", "</s>"]
LETTERS = [chr(code) for code in range(32, 127)]
ENDS = '"}],'
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content or '' }}"
    "{% for call in message.tool_calls or [] %}{{ call | tojson }}{% endfor %}\n{% endfor %}"
    "{% if tools %}{{ tools | tojson }}{% endif %}<|assistant|>"
)


def _likelihood(token: str) -> float:
    if token in ENDS or token == "</s>":
        return 1.0
    return 0.0 if token in LETTERS else -20.0


def make_model(path: Path) -> None:
    """A llama whose every weight is chance: it writes nonsense, held to whatever grammar there
    is."""
    random = np.random.default_rng(7)
    tokens = [*SPECIAL, *BYTES, *LETTERS]
    kinds = [
        *[gguf.TokenType.CONTROL] * len(SPECIAL),
        *[gguf.TokenType.BYTE] * len(BYTES),
        *[gguf.TokenType.NORMAL] * len(LETTERS),
    ]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(WIDTH * 2)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([int(kind) for kind in kinds])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)

    def matrix(*shape: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        return random.normal(0, 0.2, shape).astype(np.float32)

    # Chance alone would never end a text. The first dimension is the same for every token, so its
    # weights in the output make single bytes unlikely, and ends likely.
    embeddings, output = matrix(len(tokens), WIDTH), matrix(len(tokens), WIDTH)
    embeddings[:, 0] = 3.0
    output[:, 0] = [_likelihood(token) for token in tokens]
    writer.add_tensor("token_embd.weight", embeddings)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, dtype=np.float32))
    writer.add_tensor("output.weight", output)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}.{name}.weight", np.ones(WIDTH, dtype=np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{block}.{name}.weight", matrix(WIDTH, WIDTH))
        for name in ("ffn_gate", "ffn_up"):
            writer.add_tensor(f"{block}.{name}.weight", matrix(WIDTH * 2, WIDTH))
        writer.add_tensor(f"{block}.ffn_down.weight", matrix(WIDTH, WIDTH * 2))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    path = Path(sys.argv[1]) / "tiny.gguf"
    make_model(path)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.use_jinja = True
    params.warmup = False
    params.port = 0
    params.cpuparams.n_threads = 1
    params.sampling.seed = 7
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
