/* Rules resolved for the operators that matter, each answer worked by hand. */
#include "sharding/rule_case.h"

/* covers: A.051 A.052 A.053 A.054 A.055 */
Test(factors, elementwise)
{
    rule(13, "Relu", "float[2,3]", "", "o", "(d0,d1)->(d0,d1); d0=2 d1=3");
    rule(13, "Cast", "float[2,3]", "to=10", "o", "(d0,d1)->(d0,d1); d0=2 d1=3");
    rule(13, "Add", "float[4,8] float[4,8]", "", "o", "(d0,d1),(d0,d1)->(d0,d1); d0=4 d1=8");
    /* sizes of 1 are on every device, and the output has what the other one has */
    rule(13, "Add", "float[4,1] float[1,8]", "", "o", "(d0,_),(_,d1)->(d0,d1); d0=4 d1=8");
    rule(13, "Mul", "float[2,4,8] float[8]", "", "o",
         "(d0,d1,d2),(d2)->(d0,d1,d2); d0=2 d1=4 d2=8");
    rule(16, "Where", "bool[4,1] float[8] float[]", "", "o", "(d0,_),(d1),()->(d0,d1); d0=4 d1=8");
    rule(13, "Sum", "float[3] float[3] float[3]", "", "o", "(d0),(d0),(d0)->(d0); d0=3");
    rule(13, "Dropout", "float[2,3]", "", "o p", "(d0,d1)->(d0,d1),(d0,d1); d0=2 d1=3");
    rule(13, "Dropout", "float[2,3] float[]{0.5} bool[]{0}", "", "o p",
         "(d0,d1),(),()->(d0,d1),(d0,d1); d0=2 d1=3");
    /* trained, but so that nothing is dropped */
    rule(13, "Dropout", "float[2,3] float[]{0} bool[]{1}", "", "o p",
         "(d0,d1),(),()->(d0,d1),(d0,d1); d0=2 d1=3");
    rule(13, "Dropout", "float[2,3] float[]{0.5} bool[]{1}", "", "o p",
         "Dropout draws random numbers where it is trained, which would be others on each part: it "
         "is not split");
    rule(13, "Add", "float[1,1] float[1]", "", "o",
         "Add has nothing to split: each of its dimensions is 1, must be whole, or is not known");
    rule(13, "ConstantOfShape", "int64[2]{4,6}", "", "o",
         "(_)->(d0,d1); d0=4 d1=6; #0[0]=d0; "
         "#0[1]=d1");
    rule(6, "Add", "float[2,3] float[2]", "axis=0 broadcast=1", "o",
         "Add broadcasts by the rules of its first versions: it is not split");
}

/* covers: A.057 A.058 */
Test(factors, reductions)
{
    rule(13, "ReduceSum", "float[4,6] int64[1]{1}", "keepdims=0", "o",
         "(a0,a1),(_)->(a0); a0=4 a1=6:sum");
    rule(13, "ReduceSum", "float[4,6] int64[1]{-1}", "", "o", "(a0,a1),(_)->(a0,_); a0=4 a1=6:sum");
    rule(11, "ReduceMean", "float[4,6]", "axes=[0]", "o", "(a0,a1)->(_,a1); a0=4:mean:even a1=6");
    rule(13, "ReduceMax", "float[4,6]", "", "o", "(a0,a1)->(_,_); a0=4:max a1=6:max");
    rule(13, "ReduceMin", "float[4]", "", "o", "(a0)->(_); a0=4:min");
    rule(13, "ReduceProd", "float[4]", "", "o", "(a0)->(_); a0=4:prod");
    rule(13, "ReduceL1", "float[4]", "", "o", "(a0)->(_); a0=4:sum");
    rule(13, "ReduceL2", "float[4]", "", "o", "(a0)->(_); a0=4:l2");
    rule(13, "ReduceSumSquare", "float[4]", "", "o", "(a0)->(_); a0=4:sum");
    rule(13, "ReduceLogSum", "float[4]", "", "o", "(a0)->(_); a0=4:log");
    rule(13, "ReduceLogSumExp", "float[4]", "", "o", "(a0)->(_); a0=4:log");
    rule(13, "ReduceSum", "float[4,6]", "noop_with_empty_axes=1", "o",
         "(a0,a1)->(a0,a1); a0=4 a1=6");
    rule(13, "ReduceSum", "float[4,6] int64[1]", "", "o",
         "ReduceSum has axes that are not known: it is not split");
    rule(13, "ArgMax", "float[4,6]", "axis=1", "o", "(a0,n)->(a0,_); a0=4 n=6!");
    rule(13, "ArgMax", "float[4,6,2]", "axis=1 keepdims=0", "o",
         "(a0,n,c0)->(a0,c0); a0=4 n=6! c0=2");
}

/* covers: A.060 A.061 A.062 C.014 */
Test(factors, products)
{
    rule(13, "MatMul", "float[4,8] float[8,6]", "", "o", "(m,k),(k,n)->(m,n); m=4 k=8:sum n=6");
    rule(13, "MatMul", "float[8] float[8]", "", "o", "(k),(k)->(); k=8:sum");
    rule(13, "MatMul", "float[8] float[2,8,6]", "", "o", "(k),(d0,k,n)->(d0,n); k=8:sum d0=2 n=6");
    rule(13, "MatMul", "float[2,4,8] float[8]", "", "o", "(d0,m,k),(k)->(d0,m); d0=2 m=4 k=8:sum");
    rule(13, "MatMul", "float[3,1,4,8] float[2,8,6]", "", "o",
         "(d0,_,m,k),(d1,k,n)->(d0,d1,m,n); d0=3 m=4 k=8:sum d1=2 n=6");
    rule(13, "Gemm", "float[4,8] float[8,6] float[6]", "", "o",
         "(m,k),(k,n),(n)+->(m,n); m=4 k=8:sum n=6");
    rule(13, "Gemm", "float[8,4] float[6,8] float[4,1]", "transA=1 transB=1", "o",
         "(k,m),(n,k),(m,_)+->(m,n); k=8:sum m=4 n=6");
    rule(13, "Gemm", "float[8,4] float[8,6] float[]", "transA=1", "o",
         "(k,m),(k,n),()+->(m,n); k=8:sum m=4 n=6");
    rule(10, "MatMulInteger", "uint8[4,8] uint8[8,6] uint8[] uint8[6]", "", "o",
         "(m,k),(k,n),(),(n)->(m,n); m=4 k=8:sum n=6");
    /* parts of a sum cannot be rounded to 8 bits before they are added */
    rule(10, "QLinearMatMul",
         "uint8[4,8] float[] uint8[] uint8[8,6] float[6] uint8[6] float[] uint8[]", "", "o",
         "(m,k),(),(),(k,n),(n),(n),(),()->(m,n); m=4 k=8! n=6");
    rule_in("com.microsoft", 1, "FusedMatMul", "float[2,8,4] float[2,8,6]", "transA=1", "o",
            "(d0,k,m),(d0,k,n)->(d0,m,n); d0=2 k=8:sum m=4 n=6");
}

Test(factors, einsum)
{
    rule(13, "Einsum", "float[4,8] float[8,6]", "equation=ij,jk->ik", "o",
         "(i,j),(j,k)->(i,k); i=4 j=8:sum k=6");
    rule(13, "Einsum", "float[2,4,8] float[2,6,8]", "equation=...qd,...kd->...qk", "o",
         "(d0,q,d),(d0,k,d)->(d0,q,k); d0=2 q=4 d=8:sum k=6");
    rule(13, "Einsum", "float[4,8] float[8,6]", "equation=ij,jk", "o",
         "(i,j),(j,k)->(i,k); i=4 j=8:sum k=6");
    rule(13, "Einsum", "float[4,4]", "equation=ii->i", "o",
         "Einsum has nothing to split: each of its dimensions is 1, must be whole, or is not "
         "known");
    rule(13, "Einsum", "float[4,8]", "equation=aA->Aa", "o", "(a,A)->(A,a); a=4 A=8");
}

/* The name of a factor means one size in all inputs and outputs. covers: C.016 */
Test(factors, sizes_that_do_not_agree)
{
    rule(11, "InstanceNormalization", "float[2,4,8] float[3] float[3]", "", "o",
         "InstanceNormalization has a dimension of 3, which does not fit its sharding rule: 4 by "
         "its other operands");
}

/* Indices that cover a part of a dimension say nothing of its parts, and 1 is no broadcast. */
Test(factors, elements_by_index)
{
    rule(11, "GatherElements", "float[4,8,5] int64[4,1,7]", "axis=-1", "o",
         "(a0,_,v),(a0,_,i)->(a0,_,i); a0=4 v=5:sum:index i=7");
    rule(11, "GatherElements", "float[4,8] int64[3,8]", "axis=1", "o",
         "(_,v),(_,i)->(_,i); v=8:sum:index i=8");
    rule(11, "ScatterElements", "float[4,8,5] int64[4,1,2] float[4,1,2]", "axis=2", "o",
         "(a0,_,n),(a0,_,_),(a0,_,_)->(a0,_,n); a0=4 n=5!");
}

Test(factors, reshapes)
{
    rule(13, "Reshape", "float[2,5,12] int64[4]{2,5,3,4}", "", "o",
         "(f0,f1,f2*f3),(_)->(f0,f1,f2,f3); f0=2 f1=5 f2=3 f3=4; #1[0]=f0; #1[1]=f1; #1[2]=f2; "
         "#1[3]=f3");
    rule(13, "Reshape", "float[2,5,12] int64[2]{-1,12}", "", "o",
         "(f0,f1,f2),(_)->(f0*f1,f2); f0=2 f1=5 f2=12; #1[0]=f0*f1; #1[1]=f2");
    rule(13, "Reshape", "float[6,4] int64[3]{2,3,4}", "", "o",
         "(f0*f1,f2),(_)->(f0,f1,f2); f0=2 f1=3 f2=4; #1[0]=f0; #1[1]=f1; #1[2]=f2");
    /* half of the rows is half of the rows on both sides, but no more than that */
    rule(13, "Reshape", "float[6,4] int64[2]{4,6}", "", "o",
         "(f0*3,_),(_)->(f0*2,_); f0=2; #1[0]=f0*2");
    rule(13, "Reshape", "float[3,4,7] int64[3]{4,3,7}", "", "o",
         "(_,_,f0),(_)->(_,_,f0); f0=7; #1[2]=f0");
    /* patches of an image */
    rule(13, "Reshape", "float[2,3,8,8] int64[6]{2,3,2,4,2,4}", "", "o",
         "(f0,f1,f2*f3,f4*f5),(_)->(f0,f1,f2,f3,f4,f5); f0=2 f1=3 f2=2 f3=4 f4=2 f5=4; #1[0]=f0; "
         "#1[1]=f1; #1[2]=f2; #1[3]=f3; #1[4]=f4; #1[5]=f5");
    rule(13, "Reshape", "float[0,4] int64[1]{0}", "allowzero=1", "o",
         "Reshape has no elements: there is nothing to split");
    rule(13, "Flatten", "float[2,3,4]", "axis=2", "o", "(f0,f1,f2)->(f0*f1,f2); f0=2 f1=3 f2=4");
    rule(13, "Squeeze", "float[2,1,4] int64[1]{1}", "", "o", "(f0,_,f1),(_)->(f0,f1); f0=2 f1=4");
    rule(13, "Squeeze", "float[6,1,4]", "", "o", "(f0,_,f1)->(f0,f1); f0=6%2 f1=4%2");
    rule(13, "Unsqueeze", "float[2,4] int64[2]{0,3}", "", "o",
         "(f0,f1),(_)->(_,f0,f1,_); f0=2 f1=4");
    rule(13, "Expand", "float[2,1] int64[3]{3,2,5}", "", "o",
         "(d1,_),(_)->(d0,d1,d2); d1=2 d0=3 d2=5; #1[0]=d0; #1[1]=d1; #1[2]=d2");
    rule(13, "Tile", "float[2,3] int64[2]{1,4}", "", "o", "(a0,a1),(_)->(a0,4*a1); a0=2 a1=3");
    rule(13, "Transpose", "float[2,3,4]", "perm=[2,0,1]", "o",
         "(a0,a1,a2)->(a2,a0,a1); a0=2 a1=3 a2=4");
    rule(13, "Transpose", "float[2,3]", "", "o", "(a0,a1)->(a1,a0); a0=2 a1=3");
    rule(13, "DepthToSpace", "float[1,12,2,3]", "blocksize=2", "o",
         "(_,p*q*c,h,w)->(_,c,h*p,w*q); p=2! q=2! c=3 h=2 w=3");
    rule(13, "DepthToSpace", "float[1,12,2,3]", "blocksize=2 mode=CRD", "o",
         "(_,c*p*q,h,w)->(_,c,h*p,w*q); c=3 p=2! q=2! h=2 w=3");
}

Test(factors, moves)
{
    rule(13, "Concat", "float[2,3] float[2,5]", "axis=1", "o", "(a0,_),(a0,_)->(a0,_); a0=2");
    rule(13, "Concat", "float[2,3] float[2,3]", "axis=-1", "o",
         "(a0,part),(a0,part)->(a0,2*part); a0=2 part=3");
    rule(13, "Split", "float[2,6] int64[2]{2,4}", "axis=1", "o p",
         "(a0,_),(_)->(a0,_),(a0,_); a0=2");
    rule(13, "Split", "float[2,6] int64[2]{3,3}", "axis=1", "o p",
         "(a0,2*part),(_)->(a0,part),(a0,part); a0=2 part=3; #1[0]=part; #1[1]=part");
    rule(13, "Slice", "float[4,8] int64[1]{0} int64[1]{3} int64[1]{1}", "", "o",
         "(a0,_),(_),(_),(_)->(a0,_); a0=4");
    rule(13, "Slice", "float[4,8] int64[2]{0,0} int64[2]{2,9}", "", "o",
         "(2*a0,a1),(_),(_)->(a0,a1); a0=2 a1=8; #2[0]=a0");
    /* a piece of several of one size: a part of each piece gives a part of the result */
    rule(13, "Slice", "float[4,12] int64[1]{4} int64[1]{8} int64[1]{1}", "", "o",
         "(a0,3*a1),(_),(_),(_)->(a0,a1); a0=4 a1=4; #1[0]=a1; #2[0]=2*a1");
    rule(13, "Slice", "float[4,12] int64[1]{8} int64[1]{99} int64[1]{1}", "", "o",
         "(a0,3*a1),(_),(_),(_)->(a0,a1); a0=4 a1=4; #1[0]=2*a1");
    rule(13, "Slice", "float[4,12] int64[1]{8} int64[1]{7} int64[1]{1} int64[1]{-1}", "", "o",
         "(a0,_),(_),(_),(_),(_)->(a0,_); a0=4");
    rule(13, "Pad", "float[4,8] int64[4]{0,1,0,1}", "", "o", "(a0,_),(_)->(a0,_); a0=4");
    rule(13, "Gather", "float[100,8] int64[2,3]", "", "o",
         "(v,c0),(i0,i1)->(i0,i1,c0); v=100:sum:index c0=8 i0=2 i1=3");
    rule(13, "Gather", "float[4,100,8] int64[]", "axis=-2", "o",
         "(a0,v,c0),()->(a0,c0); a0=4 v=100:sum:index c0=8");
    rule(13, "GatherND", "float[2,3,4] int64[2,5,1]", "batch_dims=1", "o",
         "(b0,v0,c0),(b0,i0,_)->(b0,i0,c0); b0=2 v0=3! c0=4 i0=5");
    rule(13, "ScatterND", "float[6,4] int64[5,1] float[5,4]", "", "o",
         "(v0,c0),(_,_),(_,c0)->(v0,c0); v0=6! c0=4");
    rule(13, "OneHot", "int64[3,4] int64[]{7} float[2]", "axis=1", "o",
         "(a0,c0),(),(_)->(a0,_,c0); a0=3 c0=4");
    rule(11, "TopK", "float[4,8] int64[1]{2}", "", "o p", "(a0,n),(_)->(a0,_),(a0,_); a0=4 n=8!");
    rule(13, "CumSum", "float[4,8] int64[]{-1}", "", "o", "(a0,n),()->(a0,n); a0=4 n=8!");
    rule(13, "CumSum", "float[4,8] int64[]", "", "o",
         "CumSum has an axis that is not known: it is not split");
    rule(14, "Trilu", "float[2,4,4]", "", "o", "(d0,_,_)->(d0,_,_); d0=2");
    rule(13, "Resize", "float[2,3,4,4] - - int64[4]{2,3,8,8}", "", "o",
         "(a0,a1,_,_),(),(),(_)->(a0,a1,_,_); a0=2 a1=3; #3[0]=a0; #3[1]=a1");
}

Test(factors, norms)
{
    rule(13, "Softmax", "float[2,3,4]", "axis=1", "o", "(a0,n,c0)->(a0,n,c0); a0=2 n=3! c0=4");
    rule(11, "Softmax", "float[2,3,4]", "axis=1", "o", "(a0,n0,n1)->(a0,n0,n1); a0=2 n0=3! n1=4!");
    rule(17, "LayerNormalization", "float[2,3,8] float[8] float[8]", "", "o p q",
         "(a0,a1,n0),(n0),(n0)->(a0,a1,n0),(a0,a1,_),(a0,a1,_); a0=2 a1=3 n0=8!");
    rule(15, "BatchNormalization", "float[2,3,8,8] float[3] float[3] float[3] float[3]", "", "o",
         "(b,c,x0,x1),(c),(c),(c),(c)->(b,c,x0,x1); b=2 c=3 x0=8 x1=8");
    rule(15, "BatchNormalization", "float[2,3,8] float[3] float[3] float[3] float[3]",
         "training_mode=1", "o p q",
         "BatchNormalization takes its statistics from all of the batch: it is not split");
    rule(21, "GroupNormalization", "float[2,6,8] float[6] float[6]", "num_groups=2", "o",
         "(n,g*c,_),(g*c),(g*c)->(n,g*c,_); n=2 g=2 c=3!; num_groups=g");
    rule(6, "InstanceNormalization", "float[2,3,8] float[3] float[3]", "", "o",
         "(n,c,_),(c),(c)->(n,c,_); n=2 c=3");
    rule_in("com.microsoft", 1, "SkipSimplifiedLayerNormalization",
            "float[2,3,8] float[2,3,8] float[8]", "", "o - - p",
            "(d0,d1,n),(d0,d1,n),(_)->(d0,d1,n),(),(),(d0,d1,n); d0=2 d1=3 n=8!");
}

Test(factors, convolutions)
{
    rule(11, "Conv", "float[2,6,8,8] float[4,6,3,3] float[4]", "pads=[1,1,1,1]", "o",
         "(n,c,y0,y1),(m,c,_,_),(m)+->(n,m,y0,y1); n=2 c=6:sum y0=8~1+1 y1=8~1+1 m=4; "
         "pads[0]=pad y0; pads[2]=pad y0; pads[1]=pad y1; pads[3]=pad y1");
    /* groups: channels of a group stay together, and there are fewer groups on a device */
    rule(11, "Conv", "float[2,6,7] float[4,3,1]", "group=2", "o",
         "(n,g*c,y0),(g*m,c,_)->(n,g*m,y0); n=2 g=2 c=3:sum y0=7 m=2; group=g");
    rule(11, "Conv", "float[2,6,7] float[6,1,3]", "group=6", "o",
         "(n,g,_),(g,_,_)->(n,g,_); n=2 g=6; group=g");
    /* patches do not overlap: no halo */
    rule(11, "Conv", "float[2,3,8] float[4,3,4]", "strides=[4]", "o",
         "(n,c,y0*4),(m,c,_)->(n,m,y0); n=2 c=3:sum y0=2 m=4");
    rule(11, "ConvTranspose", "float[2,6,4] float[6,5,3] float[10]", "group=2", "o",
         "(n,g*c,_),(g*c,m,_),(g*m)+->(n,g*m,_); n=2 g=2 c=3:sum m=5; group=g");
    rule(12, "MaxPool", "float[2,3,8]", "kernel_shape=[3] strides=[2] pads=[1,0]", "o",
         "(n,c,y0*2)->(n,c,y0); n=2 c=3 y0=4~1+0; pads[0]=pad y0; pads[1]=pad y0");
    rule(12, "MaxPool", "float[2,3,8]", "kernel_shape=[2]", "o p",
         "MaxPool counts its indices through the whole tensor: it is not split");
    rule(11, "AveragePool", "float[2,3,8]", "kernel_shape=[3] pads=[1,1]", "o",
         "(n,c,_)->(n,c,_); n=2 c=3");
    rule(11, "GlobalAveragePool", "float[2,3,8,4]", "", "o",
         "(n,c,x0,x1)->(n,c,_,_); n=2 c=3 x0=8:mean:even x1=4:mean:even");
    rule(10, "QLinearConv",
         "uint8[2,6,8] float[] uint8[] uint8[4,6,3] float[4] uint8[4] float[] uint8[] int32[4]", "",
         "o", "(n,c,_),(),(),(m,c,_),(m),(m),(),(),(m)->(n,m,_); n=2 c=6! m=4");
}

Test(factors, quantised)
{
    rule(21, "DequantizeLinear", "int8[4,8] float[]", "", "o", "(d0,d1),()->(d0,d1); d0=4 d1=8");
    rule(21, "DequantizeLinear", "int8[4,8] float[4] int8[4]", "axis=0", "o",
         "(n,c0),(n),(n)->(n,c0); n=4 c0=8");
    rule(21, "DequantizeLinear", "int8[4,8] float[4,2]", "axis=1 block_size=4", "o",
         "(a0,n*k),(a0,n)->(a0,n*k); a0=4 n=2 k=4!");
    rule_in("com.microsoft", 1, "MatMulNBits", "float[2,64] uint8[6,4,8] float[24]",
            "K=64 N=6 bits=4 block_size=16", "o",
            "(d0,q*b),(n,q,_),(n*q)->(d0,n); d0=2 q=4:sum b=16! n=6; N=n; K=q*b");
    rule_in("com.microsoft", 1, "MatMulNBits", "float[2,64] uint8[6,4,8] float[24] uint8[12]",
            "K=64 N=6 bits=4 block_size=16", "o",
            "(d0,q*b),(n,q,_),(n*q),(n*2)->(d0,n); d0=2 q=4! b=16! n=6; N=n");
}

Test(factors, recurrences)
{
    rule(14, "LSTM", "float[5,2,3] float[1,16,3] float[1,16,4]", "hidden_size=4", "o p q",
         "(_,b,_),(_,_,_),(_,_,_)->(_,_,b,_),(_,b,_),(_,b,_); b=2");
    rule(14, "GRU", "float[2,5,3] float[1,12,3] float[1,12,4]", "hidden_size=4 layout=1", "o",
         "(b,_,_),(_,_,_),(_,_,_)->(b,_,_,_); b=2");
}

Test(factors, attention)
{
    rule(23, "Attention", "float[2,8,5,16] float[2,4,7,16] float[2,4,7,16] float[5,7]", "", "o",
         "(b,g*r,s,_),(b,g,_,_),(b,g,_,_),(s,_)->(b,g*r,s,_); b=2 g=4 r=2 s=5");
    rule(23, "Attention", "float[2,5,32] float[2,7,16] float[2,7,16]",
         "q_num_heads=8 kv_num_heads=4 is_causal=1", "o",
         "(b,s,g*r*d),(b,_,g*d),(b,_,g*e)->(b,s,g*r*e); b=2 s=5! g=4 r=2 d=4! e=4!; "
         "q_num_heads=g*r; kv_num_heads=g");
    rule_in("com.microsoft", 1, "GroupQueryAttention",
            "float[2,1,32] float[2,1,16] float[2,1,16] float[2,4,9,4] float[2,4,9,4] int32[2] "
            "int32[]",
            "num_heads=8 kv_num_heads=4", "o p q",
            "(b,_,g*r*d),(b,_,g*d),(b,_,g*d),(b,g,_,_),(b,g,_,_),(b),()->(b,_,g*r*d),(b,g,_,_),"
            "(b,g,_,_); b=2 g=4 r=2 d=4!; kv_num_heads=g; num_heads=g*r");
    rule_in("com.microsoft", 1, "MultiHeadAttention",
            "float[2,5,12] float[2,5,12] float[2,5,12] float[36]", "num_heads=3", "o",
            "(b,_,h*d),(b,_,h*d),(b,_,h*e),(3*h*d)->(b,_,h*e); b=2 h=3 d=4! e=4!; num_heads=h");
    rule_in("com.microsoft", 1, "Attention", "float[2,5,8] float[8,36] float[36] int32[2]",
            "num_heads=3", "o",
            "(b,_,_),(_,3*h*d),(3*h*d),(b)->(b,_,h*d); b=2 h=3 d=4!; num_heads=h");
    rule_in("com.microsoft", 1, "RotaryEmbedding",
            "float[2,5,12] int64[2,5] float[64,2] float[64,2]", "", "o",
            "(b,s,h*2*d),(b,s),(_,d),(_,d)->(b,s,h*2*d); b=2 s=5 h=3 d=2!");
    rule(23, "RotaryEmbedding", "float[2,3,5,4] float[2,5,2] float[2,5,2]", "", "o",
         "(b,h,s,d),(b,s,_),(b,s,_)->(b,h,s,d); b=2 h=3 s=5 d=4!");
}

Test(factors, experts)
{
    rule_in("com.microsoft", 1, "MoE",
            "float[6,8] float[6,4] float[4,10,8] float[4,10] float[4,8,10] float[4,8]", "k=2", "o",
            "(t,h),(t,_),(e,i,h),(e,i),(e,h,i),(e,h)+->(t,h); t=6 h=8! e=4:sum:index i=10:sum");
    rule_in("com.microsoft", 1, "MoE", "float[6,8] float[6,4] float[4,20,8] - float[4,8,10]",
            "k=2 swiglu_fusion=1", "o",
            "(t,h),(t,_),(e,i*2,h),(),(e,h,i)->(t,h); t=6 h=8! e=4:sum:index i=10:sum");
}

/* covers: A.063 */
Test(factors, what_stays_whole)
{
    rule(13, "NonZero", "float[4,8]", "", "o",
         "NonZero gives as many indices as it finds: it is not split");
    rule(13, "RandomNormalLike", "float[4,8]", "", "o",
         "RandomNormalLike draws random numbers, which would be others on each part: it is not "
         "split");
    rule(13, "SequenceConstruct", "float[4] float[4]", "", "o",
         "SequenceConstruct works on a sequence: it is not split");
    rule(17, "MelWeightMatrix", "int64[]{3} int64[]{8} int64[]{8} float[] float[]", "", "o",
         "MelWeightMatrix makes small numbers that depend on the whole length: each device makes "
         "all of them");
    rule(13, "NoSuchOperator", "float[4]", "", "o",
         "NoSuchOperator is not known: it has no sharding rule");
    rule(13, "Relu", "float[...]", "", "o", "Relu has an input 0 of open shape: it is not split");
}

/* An open size is not split, the others are. */
Test(factors, open_sizes)
{
    rule(13, "Relu", "float[n,3]", "", "o", "(d0,d1)->(d0,d1); d0=-1 d1=3");
    rule(13, "MatMul", "float[n,8] float[8,6]", "", "o", "(m,k),(k,n)->(m,n); m=-1 k=8:sum n=6");
    rule(13, "Reshape", "float[n,6] int64[3]{0,2,3}", "", "o",
         "(f0,f1*f2),(_)->(f0,f1,f2); f0=-1 f1=2 f2=3; #1[0]=f0; #1[1]=f1; #1[2]=f2");
}
