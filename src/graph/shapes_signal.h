/* shapes_signal.h - shape rules of Fourier transforms, windows and filter banks. */
#ifndef CLV_GRAPH_SHAPES_SIGNAL_H
#define CLV_GRAPH_SHAPES_SIGNAL_H

#include "graph/rule.h"

/* the axis is an attribute (1) before version 20, then an input (-2) */
clv_shape_rule clv_shape_dft;
clv_shape_rule clv_shape_stft;
clv_shape_rule clv_shape_mel_weight_matrix;
clv_shape_rule clv_shape_window;
/* com.microsoft's transforms of real signals work along the last axis, or the last signal_ndim. */
clv_shape_rule clv_shape_rfft;
clv_shape_rule clv_shape_irfft;

#endif
