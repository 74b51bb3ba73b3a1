/* The operator families of the sharding formalism of ONNX, name by name: each member has the rule
 * of its family, and what is outside of them is whole with a reason, or a documented extension.
 */
#include "graph/ops.h"
#include "sharding/rule_case.h"

/* covers: A.051 */
Test(families, unary)
{
    static const char *const members[] = {
        "Abs",       "Acos",     "Acosh",   "Asin",        "Asinh",      "Atan",
        "Atanh",     "Ceil",     "Cos",     "Cosh",        "Elu",        "Erf",
        "Exp",       "Floor",    "Gelu",    "HardSigmoid", "HardSwish",  "Identity",
        "LeakyRelu", "Log",      "Mish",    "Neg",         "Reciprocal", "Relu",
        "Round",     "Selu",     "Sigmoid", "Sign",        "Sin",        "Sinh",
        "Softplus",  "Softsign", "Sqrt",    "Tan",         "Tanh",       "ThresholdedRelu",
        "Dropout",   "IsInf",    "IsNaN",   "Celu",        "Shrink"
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        rule(20, members[i], "float[4,6]", "", "o", "(d0,d1)->(d0,d1); d0=4 d1=6");
    rule(20, "Cast", "float[4,6]", "to=10", "o", "(d0,d1)->(d0,d1); d0=4 d1=6");
    rule(20, "Not", "bool[4,6]", "", "o", "(d0,d1)->(d0,d1); d0=4 d1=6");
    rule(20, "BitwiseNot", "uint8[4,6]", "", "o", "(d0,d1)->(d0,d1); d0=4 d1=6");
    rule(20, "Clip", "float[4,6] float[] float[]", "", "o", "(d0,d1),(),()->(d0,d1); d0=4 d1=6");
}

static void binary(const char *name, const char *dtype)
{
    char inputs[64];
    snprintf(inputs, sizeof inputs, "%s[4,1,6] %s[5,6]", dtype, dtype);
    rule(20, name, inputs, "", "o", "(d0,_,d2),(d1,d2)->(d0,d1,d2); d0=4 d2=6 d1=5");
    snprintf(inputs, sizeof inputs, "%s[1,6] %s[]", dtype, dtype);
    rule(20, name, inputs, "", "o", "(_,d1),()->(_,d1); d1=6");
}

/* covers: A.052 A.053 A.054 */
Test(families, broadcast)
{
    static const char *const floats[] = { "Add",
                                          "Div",
                                          "Mul",
                                          "Sub",
                                          "Pow",
                                          "Mod",
                                          "Max",
                                          "Min",
                                          "Mean",
                                          "Sum",
                                          "Equal",
                                          "Greater",
                                          "GreaterOrEqual",
                                          "Less",
                                          "LessOrEqual",
                                          "PRelu" };
    static const char *const bools[] = { "And", "Or", "Xor" };
    static const char *const bits[] = { "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor" };
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        if (strcmp(floats[i], "PRelu") != 0)
            binary(floats[i], "float");
    rule(16, "PRelu", "float[4,5,6] float[5,1]", "", "o",
         "(d0,d1,d2),(d1,_)->(d0,d1,d2); d0=4 d1=5 d2=6");
    for (size_t i = 0; i < sizeof bools / sizeof bools[0]; i++)
        binary(bools[i], "bool");
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        binary(bits[i], "uint8");
    rule(16, "Where", "bool[4,1,6] float[5,6] float[1]", "", "o",
         "(d0,_,d2),(d1,d2),(_)->(d0,d1,d2); d0=4 d2=6 d1=5");
    rule(20, "Add", "float[1,1] float[1]", "", "o",
         "Add has nothing to split: each of its dimensions is 1, must be whole, or is not known");
}

/* covers: A.057 A.058 */
Test(families, reductions)
{
    static const struct {
        const char *name, *kept, *gone;
    } members[] = {
        { "ReduceL1", "(a0,a1)->(a0,_); a0=4 a1=6:sum", "(a0,a1)->(a0); a0=4 a1=6:sum" },
        { "ReduceL2", "(a0,a1)->(a0,_); a0=4 a1=6:l2", "(a0,a1)->(a0); a0=4 a1=6:l2" },
        { "ReduceLogSum", "(a0,a1)->(a0,_); a0=4 a1=6!", "(a0,a1)->(a0); a0=4 a1=6!" },
        { "ReduceLogSumExp", "(a0,a1)->(a0,_); a0=4 a1=6:log", "(a0,a1)->(a0); a0=4 a1=6:log" },
        { "ReduceMax", "(a0,a1)->(a0,_); a0=4 a1=6:max", "(a0,a1)->(a0); a0=4 a1=6:max" },
        { "ReduceMean", "(a0,a1)->(a0,_); a0=4 a1=6:mean:even",
          "(a0,a1)->(a0); a0=4 a1=6:mean:even" },
        { "ReduceMin", "(a0,a1)->(a0,_); a0=4 a1=6:min", "(a0,a1)->(a0); a0=4 a1=6:min" },
        { "ReduceProd", "(a0,a1)->(a0,_); a0=4 a1=6:prod", "(a0,a1)->(a0); a0=4 a1=6:prod" },
        { "ReduceSum", "(a0,a1)->(a0,_); a0=4 a1=6:sum", "(a0,a1)->(a0); a0=4 a1=6:sum" },
        { "ReduceSumSquare", "(a0,a1)->(a0,_); a0=4 a1=6:sum", "(a0,a1)->(a0); a0=4 a1=6:sum" },
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        rule(11, members[i].name, "float[4,6]", "axes=[1]", "o", members[i].kept);
        rule(11, members[i].name, "float[4,6]", "axes=[-1] keepdims=0", "o", members[i].gone);
    }
}

/* covers: A.063 */
Test(families, outside)
{
    static const char *const whole[] = {
        "SequenceAt",
        "SequenceConstruct",
        "SequenceEmpty",
        "SequenceErase",
        "SequenceInsert",
        "SequenceLength",
        "SplitToSequence",
        "ConcatFromSequence",
        "SequenceMap",
        "Optional",
        "OptionalGetElement",
        "OptionalHasElement",
        "If",
        "Loop",
        "Scan",
        "MelWeightMatrix",
    };
    /* beyond the formalism: split by batch or channels, as docs/sharding.md says */
    static const char *const extended[] = {
        "GRU",
        "LSTM",
        "RNN",
        "DFT",
        "STFT",
        "TfIdfVectorizer",
        "Conv",
        "ConvInteger",
        "ConvTranspose",
        "QLinearConv",
        "AveragePool",
        "MaxPool",
        "LpPool",
        "GlobalAveragePool",
        "GlobalMaxPool",
        "GlobalLpPool",
        "InstanceNormalization",
        "LpNormalization",
        "LayerNormalization",
    };
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        int32_t kind = clv_op_def_find(clv_str_of(""), clv_str_of(whole[i]));
        cr_assert(kind >= 0, "%s", whole[i]);
        const char *text = clv_op_def_at(kind)->rule;
        cr_expect(strncmp(text, "whole: ", 7) == 0 && strlen(text) > 20, "%s: %s", whole[i], text);
    }
    for (size_t i = 0; i < sizeof extended / sizeof extended[0]; i++) {
        int32_t kind = clv_op_def_find(clv_str_of(""), clv_str_of(extended[i]));
        cr_assert(kind >= 0, "%s", extended[i]);
        cr_expect(strncmp(clv_op_def_at(kind)->rule, "whole: ", 7) != 0 ||
                      strchr(clv_op_def_at(kind)->rule, '|'),
                  "%s has no rule", extended[i]);
    }
}
