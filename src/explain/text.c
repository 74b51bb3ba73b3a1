#include "explain/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/show.h"
#include "base/units.h"

static bool starts_character(char c) { return ((unsigned char)c & 0xc0) != 0x80; }

/* Names have no ESC: clv_show() writes \x1b for it. */
static int32_t width_of(const char *text, const char *end)
{
    int32_t n = 0;

    for (; text < end; text++) {
        while (text < end && *text == '\x1b')
            text += strcspn(text, "m") + 1;
        n += text < end && starts_character(*text);
    }
    return n;
}

static bool make_room(clv_text *text, size_t more)
{
    if (text->failed || more < text->cap - text->n)
        return !text->failed;
    size_t cap = text->cap ? text->cap : 1024;
    while (cap - text->n <= more && cap <= SIZE_MAX / 4)
        cap *= 2;
    char *at = cap - text->n > more ? clv_arena_grow(text->arena, text->at, text->n, cap, 1) : NULL;
    text->failed = !at;
    if (at) {
        text->at = at;
        text->cap = cap;
    }
    return at != NULL;
}

void clv_text_add(clv_text *text, const char *bytes, size_t n)
{
    if (!make_room(text, n))
        return;
    memcpy(text->at + text->n, bytes, n);
    text->n += n;
    text->at[text->n] = '\0';
}

static void text_vprintf(clv_text *text, const char *fmt, va_list args)
{
    va_list again;
    size_t room = text->failed ? 0 : text->cap - text->n;

    va_copy(again, args);
    int n = vsnprintf(room > 0 ? text->at + text->n : NULL, room, fmt, args);
    if (n >= 0 && make_room(text, (size_t)n)) {
        if ((size_t)n >= room)
            vsnprintf(text->at + text->n, (size_t)n + 1, fmt, again);
        text->n += (size_t)n;
    }
    va_end(again);
}

void clv_text_printf(clv_text *text, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    text_vprintf(text, fmt, args);
    va_end(args);
}

void clv_text_wrapped(clv_text *text, int32_t indent, const char *words)
{
    int32_t column = indent;

    for (const char *word = words; *word;) {
        const char *end = word + strcspn(word, " ");
        int32_t width = width_of(word, end);
        if (word > words && column + 1 + width > clv_text_columns(text)) {
            clv_text_printf(text, "\n%*s", (int)indent, "");
            column = indent;
        } else if (word > words) {
            clv_text_add(text, " ", 1);
            column++;
        }
        clv_text_add(text, word, (size_t)(end - word));
        column += width;
        word = end + strspn(end, " ");
    }
    clv_text_add(text, "\n", 1);
}

void clv_text_labelled(clv_text *text, const char *label, const char *fmt, ...)
{
    clv_text words = { .arena = text->arena, .form = text->form };
    va_list args;

    va_start(args, fmt);
    text_vprintf(&words, fmt, args);
    va_end(args);
    text->failed |= words.failed;
    clv_text_printf(text, "%-*s", CLV_LABEL_COLUMNS, label);
    if (!text->failed)
        clv_text_wrapped(text, CLV_LABEL_COLUMNS, clv_text_end(&words));
}

const char *clv_text_end(clv_text *text)
{
    if (text->failed)
        return NULL;
    return text->at ? text->at : "";
}

const char *clv_show_name(clv_arena *arena, clv_str name)
{
    size_t size = (size_t)name.n * CLV_SHOWN_MAX + 1;
    char *out = clv_arena_take(arena, size);

    if (out)
        clv_show(out, size, name.at, (size_t)name.n);
    return out;
}

int32_t clv_show_width(const char *text) { return width_of(text, text + strlen(text)); }

/* Where the character number n starts. */
static const char *skip_characters(const char *text, int32_t n)
{
    for (; *text; text++)
        if (starts_character(*text) && n-- == 0)
            break;
    return text;
}

const char *clv_show_name_cut(clv_arena *arena, clv_str name, int32_t columns)
{
    const char *shown = clv_show_name(arena, name);
    int32_t width = shown ? clv_show_width(shown) : 0;

    if (width <= columns)
        return shown;
    int32_t head = (columns - 3) / 3, tail = columns - 3 - head; /* ends say more than beginnings */
    const char *head_end = skip_characters(shown, head);
    return clv_arena_printf(arena, "%.*s...%s", (int)(head_end - shown), shown,
                            skip_characters(shown, width - tail));
}

/* -- tones -- */

const char *clv_tone_begin(const clv_text *text, clv_tone tone)
{
    static const char *const begins[] = { [CLV_TONE_HEAD] = "\x1b[1m",
                                          [CLV_TONE_GOOD] = "\x1b[32m",
                                          [CLV_TONE_LOOK] = "\x1b[33m",
                                          [CLV_TONE_BAD] = "\x1b[31m" };
    return text->form.colour ? begins[tone] : "";
}

const char *clv_tone_end(const clv_text *text) { return text->form.colour ? "\x1b[0m" : ""; }

const char *clv_toned(clv_text *text, clv_tone tone, const char *words)
{
    if (!text->form.colour)
        return words;
    const char *toned = clv_arena_printf(text->arena, "%s%s%s", clv_tone_begin(text, tone), words,
                                         clv_tone_end(text));
    text->failed |= !toned;
    return toned ? toned : "";
}

/* -- cells -- */

const char *clv_text_keep(clv_text *text, const char *shown)
{
    const char *copy = clv_arena_printf(text->arena, "%s", shown);
    text->failed |= !copy;
    return copy;
}

const char *clv_cell_bytes(clv_text *text, int64_t bytes)
{
    return bytes < 0 ? NULL : clv_text_keep(text, clv_show_bytes((char[32]){ 0 }, bytes));
}

const char *clv_cell_memory(clv_text *text, int64_t bytes)
{
    return bytes < 0 ? NULL : clv_text_keep(text, clv_show_memory((char[32]){ 0 }, bytes));
}

const char *clv_cell_flops(clv_text *text, int64_t flops)
{
    return flops < 0 ? NULL : clv_text_keep(text, clv_show_flops((char[32]){ 0 }, (double)flops));
}

const char *clv_cell_time(clv_text *text, int64_t ns)
{
    return ns < 0 ? NULL : clv_text_keep(text, clv_show_time((char[32]){ 0 }, ns));
}

const char *clv_cell_count(clv_text *text, int64_t n)
{
    const char *shown = clv_arena_printf(text->arena, "%" PRId64, n);
    text->failed |= !shown;
    return shown;
}

const char *clv_cell_str(clv_text *text, clv_str name)
{
    const char *shown = clv_show_name(text->arena, name);
    text->failed |= !shown;
    return shown ? shown : "";
}

const char *clv_cell_str_cut(clv_text *text, clv_str name, int32_t columns)
{
    const char *shown = clv_show_name_cut(text->arena, name, columns);
    text->failed |= !shown;
    return shown ? shown : "";
}

const char *clv_cell_name(clv_text *text, const char *name)
{
    return clv_cell_str(text, clv_str_of(name ? name : "?"));
}

const char *clv_cell_short(clv_text *text, const char *name)
{
    return clv_cell_str_cut(text, clv_str_of(name ? name : "?"), 30);
}

/* -- as others write them -- */

void clv_text_quoted(clv_text *text, const char *name)
{
    char quote = strchr(name, '\'') && !strchr(name, '"') ? '"' : '\'';
    const char *shown = clv_cell_str(text, clv_str_of(name));

    clv_text_add(text, &quote, 1);
    for (const char *s = shown; *s; s++) {
        if (*s == quote)
            clv_text_add(text, "\\", 1);
        clv_text_add(text, s, 1);
    }
    clv_text_add(text, &quote, 1);
}
