"""made_models.py - models of published sizes that no exporter is at hand for: made when they are asked for, without weights.

make(folder, name) writes one of NAMES into folder. Each is checked against the published number of its parameters
(PARAMETERS); one that differs is refused.
"""
import functools
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import decoder_model  # noqa: E402
import recommender_model  # noqa: E402
import speech_models  # noqa: E402

DECODERS = {"llama2_13b": "llama2_13b", "llama2_70b": "llama2_70b", "llama3_8b": "8b", "llama3_70b": "70b",
            "llama31_405b": "405b", "qwen3_32b": "qwen3_32b"}
NAMES = {f"{name}_decode.made.onnx": functools.partial(decoder_model.write, s=decoder_model.SIZES[sizes])
         for name, sizes in DECODERS.items()}
NAMES["jasper10x5.made.onnx"] = functools.partial(speech_models.write_conv, s=speech_models.JASPER)
NAMES["quartznet15x5.made.onnx"] = functools.partial(speech_models.write_conv, s=speech_models.QUARTZNET)
NAMES["dlrm_criteo_f15.made.onnx"] = functools.partial(recommender_model.write, rows=recommender_model.CRITEO_F15)
AUDIO = re.compile(r"qwen3_omni_audio_b(\d+)l(\d+)\.made\.onnx")
# published numbers, to as many digits as published: model cards of Llama 2 and 3 (exact), of Qwen3-32B (32.8 B);
# arXiv 1904.03288 (333 M), 1910.10261 (18.9 M), 2509.17765 (audio encoder, about 650 M); DeepLearningExamples (4 B)
PARAMETERS = {"llama2_13b_decode": (13015864320, 0), "llama2_70b_decode": (68976648192, 0), "llama3_8b_decode": (8030261248, 0),
              "llama3_70b_decode": (70553706496, 0), "llama31_405b_decode": (405853388800, 0),
              "qwen3_32b_decode": (32.8e9, 0.05e9), "jasper10x5": (333e6, 0.5e6), "quartznet15x5": (18.9e6, 0.05e6),
              "dlrm_criteo_f15": (4e9, 0.5e9), "qwen3_omni_audio": (650e6, 5e6)}


def make(folder, name):
    """its path, or None for a name that is not known"""
    path, audio = os.path.join(folder, name), AUDIO.fullmatch(name)
    if audio:
        count = speech_models.write_audio_encoder(path, *map(int, audio.groups()))
    elif name in NAMES:
        count = NAMES[name](path)
    else:
        return None
    published, off = PARAMETERS["qwen3_omni_audio" if audio else name.removesuffix(".made.onnx")]
    if abs(count - published) > off:
        sys.exit(f"{name}: has {count} parameters; published are {published:g}, give or take {off:g}")
    return path
