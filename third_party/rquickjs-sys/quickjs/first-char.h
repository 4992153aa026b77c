/* Where a search by a regular expression can begin: at its first character, if it begins with one.

   Not part of quickjs-ng: see ../README.md. The search tries each position of the text; looking for
   the first character leaves most of them out, in a fraction of the time. */

/* Where the loop over the positions is in the bytecode, and what is looked for; NULL: at each
   position something may begin. */
typedef struct {
    const uint8_t *loop;
    uint32_t c;
} REFirstChar;

static REFirstChar lre_first_char(const uint8_t *pc)
{
    REFirstChar first = { NULL, 0 };
    const uint8_t *begin = pc + 5 + 1 + 5;

    if (pc[0] != REOP_split_goto_first || get_u32(pc + 1) != 1 + 5 || pc[5] != REOP_any ||
        pc[6] != REOP_goto || (int)get_u32(pc + 7) != -(5 + 1 + 5))
        return first;
    while (*begin == REOP_save_start)
        begin += 2;
    if (*begin == REOP_char) {
        first.loop = pc + 1;
        first.c = get_u16(begin + 1);
    }
    return first;
}

/* The next place of a character of one unit from 'from' on; NULL: there is none. */
static const uint8_t *lre_seek_char(const uint8_t *from, const uint8_t *end, int is_wide, uint32_t c)
{
    const uint16_t *at;

    if (!is_wide)
        return c > 0xff ? NULL : memchr(from, c, end - from);
    for (at = (const uint16_t *)from; at < (const uint16_t *)end; at++) {
        if (*at == c)
            return (const uint8_t *)at;
    }
    return NULL;
}
