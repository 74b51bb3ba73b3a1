/* wide.h - whole numbers of 128 bits, for totals of 64-bit costs. */
#ifndef CLV_BASE_WIDE_H
#define CLV_BASE_WIDE_H

__extension__ typedef __int128 clv_wide;

/* 39 digits, a sign and the NUL. */
#define CLV_WIDE_TEXT 41

/* All digits: "-17". Returns buf. */
const char *clv_wide_text(char buf[static CLV_WIDE_TEXT], clv_wide value);

#endif
