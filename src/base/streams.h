/* streams.h - pipes, devices, and the three streams that a program is born with. */
#ifndef CLV_BASE_STREAMS_H
#define CLV_BASE_STREAMS_H

#include <stdbool.h>

/* A pipe or a device: there is no file to replace, and nothing to clean up. */
bool clv_is_stream(const char *path);

/* First of all in main(). Were a standard stream closed, the next file opened would take its
 * number, and our words would go into a model. Writing to it still fails. */
void clv_fill_streams(void);

#endif
