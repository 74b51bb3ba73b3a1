"""sizes.py - sizes for the symbols of models, so that tools can plan any of them."""

DEFAULT_SIZE = 4
# Sizes that only fit together (past + new = total) for the symbols that exporters write.
USUAL_SIZES = {"past_sequence_length": 3, "sequence_length": 1, "total_sequence_length": 4,
               "past_sequence_length + 1": 4, "past_decoder_sequence_length": 3,
               "encoder_sequence_length_out": 1500, "batch_size": 2, "batch": 2}
PREFILL = {"sequence_length": 4, "total_sequence_length": 4}


def binding_of(symbol, symbols, given):
    if symbol in given:
        return given[symbol]
    if "past_sequence_length" not in symbols and symbol in PREFILL:
        return PREFILL[symbol]
    return USUAL_SIZES.get(symbol, DEFAULT_SIZE)
