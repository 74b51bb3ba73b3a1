/* measured_folder.h - all measured times of a device, out of the files of one folder. */
#ifndef CLV_CALIBRATE_MEASURED_FOLDER_H
#define CLV_CALIBRATE_MEASURED_FOLDER_H

#include "calibrate/measured_csv.h"

/* gemm.csv, attention_prefill.csv, attention_decode.csv, collectives.csv and moe.csv, those there
 * are, and what nccl-tests print in files whose names begin with all_reduce_perf and so on, in byte
 * order of the names; other files are left alone. CLV_EFORMAT: none of them is there, or one is
 * wrong; CLV_EIO; CLV_ELIMIT: a file of more than 256 MiB. */
clv_status clv_measured_folder(const char *folder, clv_arena *arena, clv_measured_rows *ret,
                               clv_error *err);

#endif
