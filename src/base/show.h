/* show.h - text from elsewhere (names, paths, last words of programs) as a terminal may get it.
 *
 * Control characters, those of 8 bits (U+0080 to U+009F) too, and bytes that are no UTF-8 become
 * \xNN. The same for messages, notes and reports. What is shown once stays as it is when it is
 * shown again.
 */
#ifndef CLV_BASE_SHOW_H
#define CLV_BASE_SHOW_H

#include <stddef.h>

#define CLV_SHOWN_MAX 4 /* bytes that one byte becomes at most */

/* Writes the n bytes of s as they are shown, as many of them as fit in size bytes with the NUL
 * behind; size is at least 1. Never a part of a character or of an escape. Returns how many of the
 * n bytes are there: less than n only where size is below n * CLV_SHOWN_MAX + 1. O(n). */
size_t clv_show(char *to, size_t size, const char *s, size_t n);

#endif
