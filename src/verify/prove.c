#include "verify/prove.h"

#include "verify/prove_operator.h"
#include "verify/prove_step.h"
#include "verify/prove_value.h"

#define WHAT "a proof"

/* -- the frame -- */

static clv_status check_mesh(clv_prover *p, clv_error *err)
{
    const clv_mesh *mesh = &p->s->mesh;
    int64_t n = 1;
    if (mesh->n_axes < 1 || mesh->n_axes > CLV_MESH_AXES_MAX)
        return clv_refute(err, "the mesh has %d axes", (int)mesh->n_axes);
    for (int32_t a = mesh->n_axes - 1; a >= 0; a--) {
        if (mesh->size[a] < 1)
            return clv_refute(err, "axis %d of the mesh has %d devices", (int)a,
                              (int)mesh->size[a]);
        p->stride[a] = (int32_t)n;
        n *= mesh->size[a];
        if (n > mesh->n_devices)
            break;
    }
    if (n != mesh->n_devices)
        return clv_refute(err, "the axes of the mesh do not make %d devices", (int)mesh->n_devices);
    return CLV_OK;
}

/* *instrs, *values: how many there are in the phases before, and then with this one. */
static clv_status check_phase(const clv_prover *p, int32_t number, int32_t *instrs, int32_t *values,
                              clv_error *err)
{
    const clv_spmd_phase *phase = &p->s->phases[number];
    if (phase->first_instr != *instrs || phase->n_instrs < 0 || phase->first_value != *values ||
        phase->n_values < 0 || phase->n_instrs > p->s->n_instrs - *instrs ||
        phase->n_values > p->s->n_values - *values)
        return clv_refute(err, "the instructions of phase %d do not stand together", (int)number);
    for (int32_t i = 0; i < p->s->mesh.n_devices; i++) {
        if (phase->device[i] < 0 || phase->device[i] >= p->s->plan->n_devices)
            return clv_refute(err, "place %d of phase %d is on no device", (int)i, (int)number);
        for (int32_t k = 0; k < i; k++)
            if (phase->device[k] == phase->device[i])
                return clv_refute(err, "device '%s' has two places in phase %d",
                                  clv_prover_device(p, number, i), (int)number);
    }
    for (int32_t v = *values; v < *values + phase->n_values; v++)
        if (p->s->values[v].phase != number)
            return clv_refute(err, "value %d is not of phase %d", (int)v, (int)number);
    *instrs += phase->n_instrs;
    *values += phase->n_values;
    return CLV_OK;
}

/* -- what is there from the start -- */

static bool is_known(const clv_prover *p, clv_tensor t)
{
    const clv_value *v = p->s->types->value ? p->s->types->value[t.i] : NULL;
    for (int32_t i = 0; v && v->i && i < v->n; i++)
        if (!clv_dim_is_number(v->i[i]))
            return false;
    return v != NULL;
}

static clv_status receive(clv_prover *p, int32_t v, clv_error *err)
{
    const clv_spmd_value *value = &p->s->values[v];
    int32_t from = value->from;
    if (from < 0 || from >= v || p->s->values[from].phase >= value->phase ||
        p->s->values[from].tensor.i != value->tensor.i)
        return clv_refute(err, "stage %d receives '%.*s', which no earlier stage has",
                          (int)p->s->phases[value->phase].stage,
                          CLV_STR_ARG(clv_prover_name(p, v)));
    if (!p->is_there[from] || !p->s->values[from].sent)
        return clv_refute(err, "stage %d receives '%.*s', which stage %d does not send",
                          (int)p->s->phases[value->phase].stage, CLV_STR_ARG(clv_prover_name(p, v)),
                          (int)p->s->phases[p->s->values[from].phase].stage);
    if (p->held[from].box != p->held[v].box || p->held[from].split != p->held[v].split)
        return clv_refute(err, "'%.*s' lies otherwise in stage %d than where it was sent from",
                          CLV_STR_ARG(clv_prover_name(p, v)),
                          (int)p->s->phases[value->phase].stage);
    if (p->held[v].partial)
        return clv_refute(err, "'%.*s' is sent to stage %d while it is partial",
                          CLV_STR_ARG(clv_prover_name(p, v)),
                          (int)p->s->phases[value->phase].stage);
    p->receivers[from]++;
    p->proof->n_transfers++;
    return CLV_OK;
}

static clv_status begin_value(clv_prover *p, int32_t v, clv_error *err)
{
    const clv_spmd_value *value = &p->s->values[v];
    CLV_TRY(clv_prove_value(p, v, err));
    clv_tensor_role role = clv_tensor_at(p->s->model->main, value->tensor)->role;
    bool right = false;
    switch (value->role) {
    case CLV_SPMD_RESULT:
        return role == CLV_TENSOR_RESULT || role == CLV_TENSOR_INPUT
                   ? CLV_OK
                   : clv_refute(err, "weight '%.*s' is made", CLV_STR_ARG(clv_prover_name(p, v)));
    case CLV_SPMD_INPUT:
        right = role == CLV_TENSOR_INPUT;
        break;
    case CLV_SPMD_WEIGHT:
        right = role == CLV_TENSOR_WEIGHT;
        break;
    case CLV_SPMD_KNOWN:
        right = role == CLV_TENSOR_RESULT && is_known(p, value->tensor);
        break;
    case CLV_SPMD_RECEIVED:
        CLV_TRY(receive(p, v, err));
        right = true;
        break;
    }
    if (!right || p->held[v].partial)
        return clv_refute(err, "'%.*s' cannot be there when stage %d begins",
                          CLV_STR_ARG(clv_prover_name(p, v)),
                          (int)p->s->phases[value->phase].stage);
    p->is_there[v] = true;
    return CLV_OK;
}

/* -- what the model returns -- */

static clv_status prove_output(clv_prover *p, int32_t i, bool *returned, clv_error *err)
{
    const clv_graph *g = p->s->model->main;
    clv_str name = clv_tensor_at(g, g->outputs[i])->name;
    int32_t v = p->s->result[i];
    if (v < 0 || v >= p->s->n_values || p->s->values[v].tensor.i != g->outputs[i].i)
        return clv_refute(err, "output '%.*s' of the model has no value", CLV_STR_ARG(name));
    if (!p->is_there[v] || !p->s->values[v].returned)
        return clv_refute(err, "output '%.*s' of the model is never made", CLV_STR_ARG(name));
    if (p->held[v].partial)
        return clv_refute(err, "output '%.*s' of the model is partial by %s", CLV_STR_ARG(name),
                          clv_reduce_name(p->held[v].reduce));
    returned[v] = true;
    p->proof->n_outputs++;
    return CLV_OK;
}

/* Every value is there, and sent or returned just where it says so. */
static clv_status prove_ends(clv_prover *p, clv_error *err)
{
    const clv_spmd *s = p->s;
    bool *returned = CLV_NEW_ARRAY(p->arena, bool, s->n_values);
    if (!returned)
        return clv_fail_nomem(err, WHAT);
    for (int32_t i = 0; i < s->model->main->n_outputs; i++)
        CLV_TRY(prove_output(p, i, returned, err));
    for (int32_t v = 0; v < s->n_values; v++) {
        if (!p->is_there[v])
            return clv_refute(err,
                              "tensor '%.*s' is never made in the layout that it has in stage "
                              "%d",
                              CLV_STR_ARG(clv_prover_name(p, v)),
                              (int)s->phases[s->values[v].phase].stage);
        if (s->values[v].sent != (p->receivers[v] > 0))
            return clv_refute(err, "tensor '%.*s' is sent to nobody",
                              CLV_STR_ARG(clv_prover_name(p, v)));
        if (s->values[v].returned != returned[v])
            return clv_refute(err, "tensor '%.*s' is returned, but is no output of the model",
                              CLV_STR_ARG(clv_prover_name(p, v)));
    }
    return CLV_OK;
}

/* -- the program -- */

/* Phase by phase: what is there from the start, then each instruction in its order. */
static clv_status prove_phases(clv_prover *p, clv_error *err)
{
    const clv_spmd *s = p->s;
    for (int32_t k = 0; k < s->n_phases; k++) {
        const clv_spmd_phase *phase = &s->phases[k];
        for (int32_t v = phase->first_value; v < phase->first_value + phase->n_values; v++)
            CLV_TRY(begin_value(p, v, err));
        for (int32_t i = phase->first_instr; i < phase->first_instr + phase->n_instrs; i++) {
            const clv_spmd_instr *instr = &s->instrs[i];
            if (instr->phase != k || instr->n_in < 0 || instr->n_out < 0 || instr->first_in < 0 ||
                instr->first_out < 0 || instr->n_in > s->n_operands - instr->first_in ||
                instr->n_out > s->n_operands - instr->first_out ||
                instr->op.i >= s->model->main->n_ops)
                return clv_refute(err, "instruction %d is not one of phase %d", (int)i, (int)k);
            CLV_TRY(instr->op.i < 0 ? clv_prove_step(p, instr, err)
                                    : clv_prove_operator(p, instr, err));
        }
    }
    return CLV_OK;
}

static clv_status prove_program(clv_prover *p, clv_error *err)
{
    int32_t instrs = 0, values = 0;
    CLV_TRY(clv_prover_init(p, err));
    CLV_TRY(check_mesh(p, err));
    for (int32_t i = 0; i < p->s->n_phases; i++)
        CLV_TRY(check_phase(p, i, &instrs, &values, err));
    if (instrs != p->s->n_instrs || values != p->s->n_values)
        return clv_refute(err, "instructions or values are of no phase");
    CLV_TRY(prove_phases(p, err));
    return prove_ends(p, err);
}

clv_status clv_prove(const clv_spmd *s, clv_arena *arena, clv_proof *ret, clv_error *err)
{
    clv_error own;
    *ret = (clv_proof){ .n_values = s->n_values,
                        .n_phases = s->n_phases,
                        .n_devices = s->mesh.n_devices };
    clv_prover p = { .s = s, .arena = arena, .proof = ret };
    clv_status status = prove_program(&p, &own);
    if (status == CLV_EFORMAT) {
        ret->fault = clv_arena_printf(arena, "%s", own.message);
        return ret->fault ? CLV_OK : clv_fail_nomem(err, WHAT);
    }
    if (status != CLV_OK)
        return clv_fail(err, status, "%s", own.message);
    ret->holds = true;
    return CLV_OK;
}
