/* Rules resolved for the operators that matter, each answer worked by hand. */
#include "sharding/rule_case.h"

/* "o p = Split@18([2,6] int64[2]) axis=1": the outputs that are there, by themselves "o"; "ms:" in
 * front of an operator of com.microsoft; the operator set, by itself 13 (of those 1); types, float
 * where none is written; attributes. Behind it the rule, as rule_case.h writes it, or the reason to
 * stay whole.
 */
static const struct {
    const char *node, *expected;
} cases[] = {
    /* -- elementwise; covers: A.051 A.052 A.053 A.054 A.055 -- */
    { "Relu([2,3])", "(d0,d1)->(d0,d1); d0=2 d1=3" },
    { "Cast([2,3]) to=10", "(d0,d1)->(d0,d1); d0=2 d1=3" },
    { "Add([4,8] [4,8])", "(d0,d1),(d0,d1)->(d0,d1); d0=4 d1=8" },
    /* sizes of 1 are on every device, and the output has what the other one has */
    { "Add([4,1] [1,8])", "(d0,_),(_,d1)->(d0,d1); d0=4 d1=8" },
    { "Mul([2,4,8] [8])", "(d0,d1,d2),(d2)->(d0,d1,d2); d0=2 d1=4 d2=8" },
    { "Where@16(bool[4,1] [8] [])", "(d0,_),(d1),()->(d0,d1); d0=4 d1=8" },
    { "Sum([3] [3] [3])", "(d0),(d0),(d0)->(d0); d0=3" },
    { "o p = Dropout([2,3])", "(d0,d1)->(d0,d1),(d0,d1); d0=2 d1=3" },
    { "o p = Dropout([2,3] []{0.5} bool[]{0})", "(d0,d1),(),()->(d0,d1),(d0,d1); d0=2 d1=3" },
    /* trained, but so that nothing is dropped */
    { "o p = Dropout([2,3] []{0} bool[]{1})", "(d0,d1),(),()->(d0,d1),(d0,d1); d0=2 d1=3" },
    { "o p = Dropout([2,3] []{0.5} bool[]{1})",
      "Dropout draws random numbers where it is trained, which would be others on each part: it is "
      "not split" },
    { "Add([1,1] [1])",
      "Add has nothing to split: each of its dimensions is 1, must be whole, or is not known" },
    { "ConstantOfShape(int64[2]{4,6})", "(_)->(d0,d1); d0=4 d1=6; #0[0]=d0; #0[1]=d1" },
    { "Add@6([2,3] [2]) axis=0 broadcast=1",
      "Add broadcasts by the rules of its first versions: it is not split" },

    /* -- reductions; covers: A.057 A.058 -- */
    { "ReduceSum([4,6] int64[1]{1}) keepdims=0", "(a0,a1),(_)->(a0); a0=4 a1=6:sum" },
    { "ReduceSum([4,6] int64[1]{-1})", "(a0,a1),(_)->(a0,_); a0=4 a1=6:sum" },
    { "ReduceMean@11([4,6]) axes=[0]", "(a0,a1)->(_,a1); a0=4:mean:even a1=6" },
    { "ReduceMax([4,6])", "(a0,a1)->(_,_); a0=4:max a1=6:max" },
    { "ReduceMin([4])", "(a0)->(_); a0=4:min" },
    { "ReduceProd([4])", "(a0)->(_); a0=4:prod" },
    { "ReduceL1([4])", "(a0)->(_); a0=4:sum" },
    { "ReduceL2([4])", "(a0)->(_); a0=4:l2" },
    { "ReduceSumSquare([4])", "(a0)->(_); a0=4:sum" },
    { "ReduceLogSum([2,4]) axes=[1]", "(a0,a1)->(a0,_); a0=2 a1=4!" },
    { "ReduceLogSumExp([4])", "(a0)->(_); a0=4:log" },
    { "ReduceSum([4,6]) noop_with_empty_axes=1", "(a0,a1)->(a0,a1); a0=4 a1=6" },
    { "ReduceSum([4,6] int64[1])", "ReduceSum has axes that are not known: it is not split" },
    { "ArgMax([4,6]) axis=1", "(a0,n)->(a0,_); a0=4 n=6!" },
    { "ArgMax([4,6,2]) axis=1 keepdims=0", "(a0,n,c0)->(a0,c0); a0=4 n=6! c0=2" },

    /* -- products; covers: A.060 A.061 A.062 C.014 -- */
    { "MatMul([4,8] [8,6])", "(m,k),(k,n)->(m,n); m=4 k=8:sum n=6" },
    { "MatMul([8] [8])", "(k),(k)->(); k=8:sum" },
    { "MatMul([8] [2,8,6])", "(k),(d0,k,n)->(d0,n); k=8:sum d0=2 n=6" },
    { "MatMul([2,4,8] [8])", "(d0,m,k),(k)->(d0,m); d0=2 m=4 k=8:sum" },
    { "MatMul([3,1,4,8] [2,8,6])", "(d0,_,m,k),(d1,k,n)->(d0,d1,m,n); d0=3 m=4 k=8:sum d1=2 n=6" },
    { "Gemm([4,8] [8,6] [6])", "(m,k),(k,n),(n)+->(m,n); m=4 k=8:sum n=6" },
    { "Gemm([8,4] [6,8] [4,1]) transA=1 transB=1", "(k,m),(n,k),(m,_)+->(m,n); k=8:sum m=4 n=6" },
    { "Gemm([8,4] [8,6] []) transA=1", "(k,m),(k,n),()+->(m,n); k=8:sum m=4 n=6" },
    { "MatMulInteger@10(uint8[4,8] uint8[8,6] uint8[] uint8[6])",
      "(m,k),(k,n),(),(n)->(m,n); m=4 k=8:sum n=6" },
    /* parts of a sum cannot be rounded to 8 bits before they are added */
    { "QLinearMatMul@10(uint8[4,8] [] uint8[] uint8[8,6] [6] uint8[6] [] uint8[])",
      "(m,k),(),(),(k,n),(n),(n),(),()->(m,n); m=4 k=8! n=6" },
    { "ms:FusedMatMul([2,8,4] [2,8,6]) transA=1",
      "(d0,k,m),(d0,k,n)->(d0,m,n); d0=2 k=8:sum m=4 n=6" },

    /* -- Einsum -- */
    { "Einsum([4,8] [8,6]) equation=ij,jk->ik", "(i,j),(j,k)->(i,k); i=4 j=8:sum k=6" },
    { "Einsum([2,4,8] [2,6,8]) equation=...qd,...kd->...qk",
      "(d0,q,d),(d0,k,d)->(d0,q,k); d0=2 q=4 d=8:sum k=6" },
    { "Einsum([4,8] [8,6]) equation=ij,jk", "(i,j),(j,k)->(i,k); i=4 j=8:sum k=6" },
    { "Einsum([4,4]) equation=ii->i",
      "Einsum has nothing to split: each of its dimensions is 1, must be whole, or is not known" },
    { "Einsum([4,8]) equation=aA->Aa", "(a,A)->(A,a); a=4 A=8" },

    /* -- The name of a factor means one size in all inputs and outputs. covers: C.016 -- */
    { "InstanceNormalization@11([2,4,8] [3] [3])",
      "InstanceNormalization has a dimension of 3, which does not fit its sharding rule: 4 by its "
      "other operands" },

    /* -- Indices that cover a part of a dimension say nothing of its parts, and 1 is no broadcast.
       -- */
    { "GatherElements@11([4,8,5] int64[4,1,7]) axis=-1",
      "(a0,_,v),(a0,_,i)->(a0,_,i); a0=4 v=5:sum:index i=7" },
    { "GatherElements@11([4,8] int64[3,8]) axis=1", "(_,v),(_,i)->(_,i); v=8:sum:index i=8" },
    { "ScatterElements@11([4,8,5] int64[4,1,2] [4,1,2]) axis=2",
      "(a0,_,n),(a0,_,_),(a0,_,_)->(a0,_,n); a0=4 n=5!" },

    /* -- reshapes -- */
    { "Reshape([2,5,12] int64[4]{2,5,3,4})", "(f0,f1,f2*f3),(_)->(f0,f1,f2,f3); f0=2 f1=5 f2=3 "
                                             "f3=4; #1[0]=f0; #1[1]=f1; #1[2]=f2; #1[3]=f3" },
    { "Reshape([2,5,12] int64[2]{-1,12})",
      "(f0,f1,f2),(_)->(f0*f1,f2); f0=2 f1=5 f2=12; #1[0]=f0*f1; #1[1]=f2" },
    { "Reshape([6,4] int64[3]{2,3,4})",
      "(f0*f1,f2),(_)->(f0,f1,f2); f0=2 f1=3 f2=4; #1[0]=f0; #1[1]=f1; #1[2]=f2" },
    /* half of the rows is half of the rows on both sides, but no more than that */
    { "Reshape([6,4] int64[2]{4,6})", "(f0*3,_),(_)->(f0*2,_); f0=2; #1[0]=f0*2" },
    { "Reshape([3,4,7] int64[3]{4,3,7})", "(_,_,f0),(_)->(_,_,f0); f0=7; #1[2]=f0" },
    /* patches of an image */
    { "Reshape([2,3,8,8] int64[6]{2,3,2,4,2,4})",
      "(f0,f1,f2*f3,f4*f5),(_)->(f0,f1,f2,f3,f4,f5); f0=2 f1=3 f2=2 f3=4 f4=2 f5=4; #1[0]=f0; "
      "#1[1]=f1; #1[2]=f2; #1[3]=f3; #1[4]=f4; #1[5]=f5" },
    { "Reshape([0,4] int64[1]{0}) allowzero=1",
      "Reshape has no elements: there is nothing to split" },
    { "Flatten([2,3,4]) axis=2", "(f0,f1,f2)->(f0*f1,f2); f0=2 f1=3 f2=4" },
    { "Squeeze([2,1,4] int64[1]{1})", "(f0,_,f1),(_)->(f0,f1); f0=2 f1=4" },
    { "Squeeze([6,1,4])", "(f0,_,f1)->(f0,f1); f0=6%2 f1=4%2" },
    { "Unsqueeze([2,4] int64[2]{0,3})", "(f0,f1),(_)->(_,f0,f1,_); f0=2 f1=4" },
    { "Expand([2,1] int64[3]{3,2,5})",
      "(d1,_),(_)->(d0,d1,d2); d1=2 d0=3 d2=5; #1[0]=d0; #1[1]=d1; #1[2]=d2" },
    { "Tile([2,3] int64[2]{1,4})", "(a0,a1),(_)->(a0,4*a1); a0=2 a1=3" },
    { "Transpose([2,3,4]) perm=[2,0,1]", "(a0,a1,a2)->(a2,a0,a1); a0=2 a1=3 a2=4" },
    { "Transpose([2,3])", "(a0,a1)->(a1,a0); a0=2 a1=3" },
    { "DepthToSpace([1,12,2,3]) blocksize=2",
      "(_,p*q*c,h,w)->(_,c,h*p,w*q); p=2! q=2! c=3 h=2 w=3" },
    { "DepthToSpace([1,12,2,3]) blocksize=2 mode=CRD",
      "(_,c*p*q,h,w)->(_,c,h*p,w*q); c=3 p=2! q=2! h=2 w=3" },

    /* -- what moves elements -- */
    { "Concat([2,3] [2,5]) axis=1", "(a0,_),(a0,_)->(a0,_); a0=2" },
    { "Concat([2,3] [2,3]) axis=-1", "(a0,part),(a0,part)->(a0,2*part); a0=2 part=3" },
    { "o p = Split([2,6] int64[2]{2,4}) axis=1", "(a0,_),(_)->(a0,_),(a0,_); a0=2" },
    { "o p = Split([2,6] int64[2]{3,3}) axis=1",
      "(a0,2*part),(_)->(a0,part),(a0,part); a0=2 part=3; #1[0]=part; #1[1]=part" },
    { "Slice([4,8] int64[1]{0} int64[1]{3} int64[1]{1})", "(a0,_),(_),(_),(_)->(a0,_); a0=4" },
    { "Slice([4,8] int64[2]{0,0} int64[2]{2,9})",
      "(2*a0,a1),(_),(_)->(a0,a1); a0=2 a1=8; #2[0]=a0" },
    /* a piece of several of one size: a part of each piece gives a part of the result */
    { "Slice([4,12] int64[1]{4} int64[1]{8} int64[1]{1})",
      "(a0,3*a1),(_),(_),(_)->(a0,a1); a0=4 a1=4; #1[0]=a1; #2[0]=2*a1" },
    { "Slice([4,12] int64[1]{8} int64[1]{99} int64[1]{1})",
      "(a0,3*a1),(_),(_),(_)->(a0,a1); a0=4 a1=4; #1[0]=2*a1" },
    { "Slice([4,12] int64[1]{8} int64[1]{7} int64[1]{1} int64[1]{-1})",
      "(a0,_),(_),(_),(_),(_)->(a0,_); a0=4" },
    { "Pad([4,8] int64[4]{0,1,0,1})", "(a0,_),(_)->(a0,_); a0=4" },
    { "Gather([100,8] int64[2,3])", "(v,c0),(i0,i1)->(i0,i1,c0); v=100:sum:index c0=8 i0=2 i1=3" },
    { "Gather([4,100,8] int64[]) axis=-2", "(a0,v,c0),()->(a0,c0); a0=4 v=100:sum:index c0=8" },
    { "GatherND([2,3,4] int64[2,5,1]) batch_dims=1",
      "(b0,v0,c0),(b0,i0,_)->(b0,i0,c0); b0=2 v0=3! c0=4 i0=5" },
    { "ScatterND([6,4] int64[5,1] [5,4])", "(v0,c0),(_,_),(_,c0)->(v0,c0); v0=6! c0=4" },
    { "OneHot(int64[3,4] int64[]{7} [2]) axis=1", "(a0,c0),(),(_)->(a0,_,c0); a0=3 c0=4" },
    { "o p = TopK@11([4,8] int64[1]{2})", "(a0,n),(_)->(a0,_),(a0,_); a0=4 n=8!" },
    { "CumSum([4,8] int64[]{-1})", "(a0,n),()->(a0,n); a0=4 n=8!" },
    { "CumSum([4,8] int64[])", "CumSum has an axis that is not known: it is not split" },
    { "Trilu@14([2,4,4])", "(d0,_,_)->(d0,_,_); d0=2" },
    { "Resize([2,3,4,4] - - int64[4]{2,3,8,8})",
      "(a0,a1,_,_),(),(),(_)->(a0,a1,_,_); a0=2 a1=3; #3[0]=a0; #3[1]=a1" },

    /* -- normalisations -- */
    { "Softmax([2,3,4]) axis=1", "(a0,n,c0)->(a0,n,c0); a0=2 n=3! c0=4" },
    { "Softmax@11([2,3,4]) axis=1", "(a0,n0,n1)->(a0,n0,n1); a0=2 n0=3! n1=4!" },
    { "o p q = LayerNormalization@17([2,3,8] [8] [8])",
      "(a0,a1,n0),(n0),(n0)->(a0,a1,n0),(a0,a1,_),(a0,a1,_); a0=2 a1=3 n0=8!" },
    { "BatchNormalization@15([2,3,8,8] [3] [3] [3] [3])",
      "(b,c,x0,x1),(c),(c),(c),(c)->(b,c,x0,x1); b=2 c=3 x0=8 x1=8" },
    { "o p q = BatchNormalization@15([2,3,8] [3] [3] [3] [3]) training_mode=1",
      "BatchNormalization takes its statistics from all of the batch: it is not split" },
    { "GroupNormalization@21([2,6,8] [6] [6]) num_groups=2",
      "(n,g*c,_),(g*c),(g*c)->(n,g*c,_); n=2 g=2 c=3!; num_groups=g" },
    { "InstanceNormalization@6([2,3,8] [3] [3])", "(n,c,_),(c),(c)->(n,c,_); n=2 c=3" },
    { "o - - p = ms:SkipSimplifiedLayerNormalization([2,3,8] [2,3,8] [8])",
      "(d0,d1,n),(d0,d1,n),(_)->(d0,d1,n),(),(),(d0,d1,n); d0=2 d1=3 n=8!" },

    /* -- convolutions and poolings -- */
    { "Conv@11([2,6,8,8] [4,6,3,3] [4]) pads=[1,1,1,1]",
      "(n,c,y0,y1),(m,c,_,_),(m)+->(n,m,y0,y1); n=2 c=6:sum y0=8~1+1 y1=8~1+1 m=4; pads[0]=pad y0; "
      "pads[2]=pad y0; pads[1]=pad y1; pads[3]=pad y1" },
    /* groups: channels of a group stay together, and there are fewer groups on a device */
    { "Conv@11([2,6,7] [4,3,1]) group=2",
      "(n,g*c,y0),(g*m,c,_)->(n,g*m,y0); n=2 g=2 c=3:sum y0=7 m=2; group=g" },
    { "Conv@11([2,6,7] [6,1,3]) group=6", "(n,g,_),(g,_,_)->(n,g,_); n=2 g=6; group=g" },
    /* patches do not overlap: no halo */
    { "Conv@11([2,3,8] [4,3,4]) strides=[4]",
      "(n,c,y0*4),(m,c,_)->(n,m,y0); n=2 c=3:sum y0=2 m=4" },
    { "ConvTranspose@11([2,6,4] [6,5,3] [10]) group=2",
      "(n,g*c,_),(g*c,m,_),(g*m)+->(n,g*m,_); n=2 g=2 c=3:sum m=5; group=g" },
    { "MaxPool@12([2,3,8]) kernel_shape=[3] strides=[2] pads=[1,0]",
      "(n,c,y0*2)->(n,c,y0); n=2 c=3 y0=4~1+0; pads[0]=pad y0; pads[1]=pad y0" },
    { "o p = MaxPool@12([2,3,8]) kernel_shape=[2]",
      "MaxPool counts its indices through the whole tensor: it is not split" },
    { "AveragePool@11([2,3,8]) kernel_shape=[3] pads=[1,1]", "(n,c,_)->(n,c,_); n=2 c=3" },
    { "GlobalAveragePool@11([2,3,8,4])",
      "(n,c,x0,x1)->(n,c,_,_); n=2 c=3 x0=8:mean:even x1=4:mean:even" },
    { "QLinearConv@10(uint8[2,6,8] [] uint8[] uint8[4,6,3] [4] uint8[4] [] uint8[] int32[4])",
      "(n,c,_),(),(),(m,c,_),(m),(m),(),(),(m)->(n,m,_); n=2 c=6! m=4" },

    /* -- quantised -- */
    { "DequantizeLinear@21(int8[4,8] [])", "(d0,d1),()->(d0,d1); d0=4 d1=8" },
    { "DequantizeLinear@21(int8[4,8] [4] int8[4]) axis=0", "(n,c0),(n),(n)->(n,c0); n=4 c0=8" },
    { "DequantizeLinear@21(int8[4,8] [4,2]) axis=1 block_size=4",
      "(a0,n*k),(a0,n)->(a0,n*k); a0=4 n=2 k=4!" },
    { "ms:MatMulNBits([2,64] uint8[6,4,8] [24]) K=64 N=6 bits=4 block_size=16",
      "(d0,q*b),(n,q,_),(n*q)->(d0,n); d0=2 q=4:sum b=16! n=6; N=n; K=q*b" },
    { "ms:MatMulNBits([2,64] uint8[6,4,8] [24] uint8[12]) K=64 N=6 bits=4 block_size=16",
      "(d0,q*b),(n,q,_),(n*q),(n*2)->(d0,n); d0=2 q=4! b=16! n=6; N=n" },

    /* -- recurrences -- */
    { "o p q = LSTM@14([5,2,3] [1,16,3] [1,16,4]) hidden_size=4",
      "(_,b,_),(_,_,_),(_,_,_)->(_,_,b,_),(_,b,_),(_,b,_); b=2" },
    { "GRU@14([2,5,3] [1,12,3] [1,12,4]) hidden_size=4 layout=1",
      "(b,_,_),(_,_,_),(_,_,_)->(b,_,_,_); b=2" },

    /* -- attention -- */
    { "Attention@23([2,8,5,16] [2,4,7,16] [2,4,7,16] [5,7])",
      "(b,g*r,s,_),(b,g,_,_),(b,g,_,_),(s,_)->(b,g*r,s,_); b=2 g=4 r=2 s=5" },
    { "Attention@23([2,5,32] [2,7,16] [2,7,16]) q_num_heads=8 kv_num_heads=4 is_causal=1",
      "(b,s,g*r*d),(b,_,g*d),(b,_,g*e)->(b,s,g*r*e); b=2 s=5! g=4 r=2 d=4! e=4!; q_num_heads=g*r; "
      "kv_num_heads=g" },
    { "o p q = ms:GroupQueryAttention([2,1,32] [2,1,16] [2,1,16] [2,4,9,4] [2,4,9,4] int32[2] "
      "int32[]{10}) num_heads=8 kv_num_heads=4",
      "(b,_,g*r*d),(b,_,g*d),(b,_,g*d),(b,g,_,_),(b,g,_,_),(b),()->(b,_,g*r*d),(b,g,_,_),(b,g,_,_);"
      " b=2 g=4 r=2 d=4!; kv_num_heads=g; num_heads=g*r" },
    { "ms:MultiHeadAttention([2,5,12] [2,5,12] [2,5,12] [36]) num_heads=3",
      "(b,_,h*d),(b,_,h*d),(b,_,h*e),(3*h*d)->(b,_,h*e); b=2 h=3 d=4! e=4!; num_heads=h" },
    { "ms:Attention([2,5,8] [8,36] [36] int32[2]) num_heads=3",
      "(b,_,_),(_,3*h*d),(3*h*d),(b)->(b,_,h*d); b=2 h=3 d=4!; num_heads=h" },
    { "ms:RotaryEmbedding([2,5,12] int64[2,5] [64,2] [64,2])",
      "(b,s,h*2*d),(b,s),(_,d),(_,d)->(b,s,h*2*d); b=2 s=5 h=3 d=2!" },
    { "RotaryEmbedding@23([2,3,5,4] [2,5,2] [2,5,2])",
      "(b,h,s,d),(b,s,_),(b,s,_)->(b,h,s,d); b=2 h=3 s=5 d=4!" },

    /* -- experts -- */
    { "ms:MoE([6,8] [6,4] [4,10,8] [4,10] [4,8,10] [4,8]) k=2",
      "(t,h),(t,_),(e,i,h),(e,i),(e,h,i),(e,h)+->(t,h); t=6 h=8! e=4:sum:index i=10:sum" },
    { "ms:MoE([6,8] [6,4] [4,20,8] - [4,8,10]) k=2 swiglu_fusion=1",
      "(t,h),(t,_),(e,i*2,h),(),(e,h,i)->(t,h); t=6 h=8! e=4:sum:index i=10:sum" },

    /* -- what stays whole; covers: A.063 -- */
    { "NonZero([4,8])", "NonZero gives as many indices as it finds: it is not split" },
    { "RandomNormalLike([4,8])", "RandomNormalLike draws random numbers, which would be others on "
                                 "each part: it is not split" },
    { "SequenceConstruct([4] [4])", "SequenceConstruct works on a sequence: it is not split" },
    { "MelWeightMatrix@17(int64[]{3} int64[]{8} int64[]{8} [] [])",
      "MelWeightMatrix makes small numbers that depend on the whole length: each device makes all "
      "of them" },
    { "NoSuchOperator([4])", "NoSuchOperator is not known: it has no sharding rule" },
    { "Relu([...])", "Relu has an input 0 of open shape: it is not split" },

    /* -- An open size is not split, the others are. -- */
    /* nobody can cut, join or add up what has no known size */
    { "Relu([n,3])",
      "Relu has nothing to split: each of its dimensions is 1, must be whole, or is not known" },
    { "MatMul([n,8] [8,6])",
      "MatMul has nothing to split: each of its dimensions is 1, must be whole, or is not known" },
    { "MatMul([8] [8,n])",
      "MatMul has nothing to split: each of its dimensions is 1, must be whole, or is not known" },
    { "Gather([8,6] int64[n])",
      "Gather has nothing to split: each of its dimensions is 1, must be whole, or is not known" },
    { "Where@16(bool[4,1] [8] [n,1])", "(d0,_),(d1),(d0,_)->(d0,d1); d0=-1! d1=8" },
    { "Reshape([n,6] int64[3]{0,2,3})",
      "Reshape has nothing to split: each of its dimensions is 1, must be whole, or is not known" },
};

static void check(const char *node, const char *expected)
{
    char outputs[16] = "o", type[64], written[160] = "", inputs[200] = "", attrs[160] = "";
    const char *equals = strstr(node, " = ");
    if (equals && equals < strchr(node, '(')) {
        snprintf(outputs, sizeof outputs, "%.*s", (int)(equals - node), node);
        node = equals + 3;
    }
    bool ms = strncmp(node, "ms:", 3) == 0;
    int opset = ms ? 1 : 13, n = 0;
    node += ms ? 3 : 0;
    cr_assert_eq(sscanf(node, "%63[A-Za-z0-9]", type), 1, "%s", node);
    sscanf(node, "%*[^@(]@%d", &opset);
    sscanf(node, "%*[^(](%159[^)]) %159[^\n]", written, attrs);
    for (const char *at = written; *at; at++)
        n += snprintf(inputs + n, sizeof inputs - (size_t)n, "%s%c",
                      *at == '[' && (at == written || at[-1] == ' ') ? "float" : "", *at);
    rule_in(ms ? "com.microsoft" : "", opset, type, inputs, attrs, outputs, expected);
}

Test(factors, of_operators)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(cases[i].node, cases[i].expected);
}
