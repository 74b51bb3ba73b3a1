/* test_onnx_write_tensors.c - types of values, and initialisers. */
#include "proto/written.h"

static clv_type ranked(clv_dtype dtype, const clv_dim *dims, int32_t rank)
{
    return (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = dtype, .rank = rank, .dims = dims };
}

Test(onnx_write, values_say_what_is_known_of_their_types)
{
    source s = source_of(small_model(), "");
    const clv_dim dims[] = { clv_dim_symbol(0), 4, CLV_DIM_UNKNOWN, 0 };
    clv_type known = ranked(CLV_DT_FLOAT16, dims, 4), scalar = ranked(CLV_DT_BOOL, NULL, 0);
    clv_type unranked = ranked(CLV_DT_INT8, NULL, CLV_RANK_UNKNOWN), unknown = { .rank = -1 };
    clv_type list = { .kind = CLV_TYPE_SEQUENCE, .elem = &known };
    clv_type maybe = { .kind = CLV_TYPE_OPTIONAL, .elem = &list };
    clv_type keyed = { .kind = CLV_TYPE_MAP, .dtype = CLV_DT_INT64, .elem = &scalar };
    clv_type thin = { .kind = CLV_TYPE_SPARSE, .dtype = CLV_DT_FLOAT, .rank = 1, .dims = dims + 1 };
    const clv_new_value values[] = { { text("scalar"), &scalar }, { text("unranked"), &unranked },
                                     { text("none"), NULL },      { text("unknown"), &unknown },
                                     { text("maybe"), &maybe },   { text("keyed"), &keyed },
                                     { text("thin"), &thin } };
    s.m->values = values;
    s.m->n_values = 7;
    Onnx__ModelProto *model = unpacked(&s);
    Onnx__ValueInfoProto **v = model->graph->value_info;
    cr_assert_eq(model->graph->n_value_info, 5, "what is not known is not said");
    cr_assert_eq(v[0]->type->tensor_type->elem_type, CLV_DT_BOOL);
    cr_assert_eq(v[0]->type->tensor_type->shape->n_dim, 0);
    cr_assert_null(v[1]->type->tensor_type->shape);
    const Onnx__TypeProto__Tensor *t =
        v[2]->type->optional_type->elem_type->sequence_type->elem_type->tensor_type;
    cr_assert_eq(t->elem_type, CLV_DT_FLOAT16);
    cr_assert_str_eq(t->shape->dim[0]->dim_param, "batch");
    cr_assert_eq(t->shape->dim[1]->dim_value, 4);
    cr_assert_eq(t->shape->dim[2]->value_case, ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE__NOT_SET);
    cr_assert_eq(t->shape->dim[3]->value_case,
                 ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE);
    cr_assert_eq(v[3]->type->map_type->key_type, CLV_DT_INT64);
    cr_assert_eq(v[3]->type->map_type->value_type->tensor_type->elem_type, CLV_DT_BOOL);
    cr_assert_eq(v[4]->type->sparse_tensor_type->shape->dim[0]->dim_value, 4);
    done(&s, model);
}

Test(onnx_write, initialisers_are_bytes_or_elsewhere_or_weights_of_the_source)
{
    static const int64_t two_three[] = { 2, 3 }, none[] = { 0, 1000 };
    test_onnx *built = small_model();
    onnx_weight_external(onnx_main(built), "far", 1, "5", "w.bin", 64, 20);
    onnx_sparse_weight(onnx_main(built), "thin", "10,10", 3);
    source s = source_of(built, "");
    const clv_new_tensor tensors[] = {
        { .name = text("raw"),
          .dtype = CLV_DT_UINT8,
          .rank = 2,
          .dims = two_three,
          .bytes = "abcdef",
          .n_bytes = 6,
          .weight = -1 },
        { .name = text("away"),
          .dtype = CLV_DT_FLOAT,
          .rank = 2,
          .dims = two_three,
          .n_bytes = 24,
          .location = text("gpu0.bin"),
          .offset = INT64_C(1) << 40,
          .weight = -1 },
        { .name = text("thin2"), .weight = 3 },
        { .name = text("ints2"), .weight = 1 },
        { .name = text("far2"), .weight = 2 },
        { .name = text("empty"), .dtype = CLV_DT_INT64, .rank = 2, .dims = none, .weight = -1 },
    };
    s.m->tensors = tensors;
    s.m->n_tensors = 6;
    Onnx__ModelProto *model = unpacked(&s);
    Onnx__TensorProto **t = model->graph->initializer;
    cr_assert_eq(model->graph->n_initializer, 5);
    cr_assert_eq(t[0]->raw_data.len, 6);
    cr_assert_arr_eq(t[0]->raw_data.data, "abcdef", 6);
    cr_assert(t[0]->n_dims == 2 && t[0]->dims[1] == 3);
    cr_assert_eq(t[1]->data_location, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
    cr_assert_str_eq(t[1]->external_data[0]->value, "gpu0.bin");
    cr_assert_str_eq(t[1]->external_data[1]->value, "1099511627776");
    cr_assert_str_eq(t[1]->external_data[2]->value, "24");
    cr_assert_str_eq(t[2]->name, "ints2");
    cr_assert(t[2]->n_int64_data == 2 && t[2]->int64_data[1] == 300);
    cr_assert_str_eq(t[3]->name, "far2");
    cr_assert_str_eq(t[3]->external_data[0]->value, "w.bin");
    cr_assert(!t[4]->has_raw_data && t[4]->dims[1] == 1000);
    cr_assert_eq(model->graph->n_sparse_initializer, 1);
    cr_assert_str_eq(model->graph->sparse_initializer[0]->values->name, "thin2");
    done(&s, model);
}
