/* int128.h - whole numbers of 128 bits, for totals of 64-bit costs. */
#ifndef CLV_BASE_INT128_H
#define CLV_BASE_INT128_H

__extension__ typedef __int128 clv_int128;
#define CLV_INT128_MAX ((clv_int128)(~(unsigned __int128)0 >> 1))

/* 39 digits, a sign and the NUL. */
#define CLV_INT128_TEXT 41

/* All digits: "-17". Returns buf. */
const char *clv_int128_text(char buf[static CLV_INT128_TEXT], clv_int128 value);

#endif
