/* utf8.h - is a character well-formed? For all who look at text. */
#ifndef CLV_BASE_UTF8_H
#define CLV_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character at p, 1 to 4; 0 when the n bytes there do not begin with one. */
int clv_utf8_char(const unsigned char *p, size_t n);

#endif
