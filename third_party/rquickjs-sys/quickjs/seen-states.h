/* A search by a regular expression that goes back too often notes where it chose, and does not choose
   there again.

   Not part of quickjs-ng: see ../README.md. What follows from a choice at a place of the text depends
   on nothing else, unless the expression counts, looks around or refers back: who comes there again has
   failed there before. So the time of a search grows with the text, as in k6, whose engine goes over
   it once, and not with its powers. */

/* Notes are made after so many steps for each character, which a search takes that goes well. */
#define SEEN_STEPS_PER_CHAR 8
/* Bits of notes at most: 32 MiB. */
#define SEEN_BITS_MAX ((size_t)1 << 28)

typedef struct {
    uint8_t *bits; /* NULL: no notes are made */
    uint16_t *rows; /* the row of a choice, by its place in the bytecode; 0: it has none yet */
    const uint8_t *code;
    size_t width; /* bits of a row: places of the text */
    size_t polls; /* how often so many steps were taken as lie between two polls */
    uint32_t row_count;
    bool is_settled; /* whether it was decided if notes are made */
} RESeenStates;

/* How many choices the expression has; 0: none, or one that depends on more than its place. */
static uint32_t lre_count_choices(const uint8_t *code, uint32_t code_len)
{
    uint32_t pos, len, count = 0;
    int opcode;

    for (pos = 0; pos < code_len; pos += len) {
        opcode = code[pos];
        len = reopcode_info[opcode].size;
        switch (opcode) {
        case REOP_split_goto_first:
        case REOP_split_next_first:
            count++;
            break;
        case REOP_range:
        case REOP_range_i:
            len += get_u16(code + pos + 1) * 4;
            break;
        case REOP_range32:
        case REOP_range32_i:
            len += get_u16(code + pos + 1) * 8;
            break;
        case REOP_back_reference:
        case REOP_back_reference_i:
        case REOP_backward_back_reference:
        case REOP_backward_back_reference_i:
        case REOP_lookahead:
        case REOP_negative_lookahead:
        case REOP_set_i32:
        case REOP_set_char_pos:
            return 0;
        }
    }
    return count < UINT16_MAX ? count : 0;
}

/* Begins to make notes, if there is room for them. */
static void lre_begin_notes(RESeenStates *seen, const uint8_t *bc_buf, void *opaque)
{
    uint32_t code_len = get_u32(bc_buf + RE_HEADER_BYTECODE_LEN);
    uint32_t choices = lre_count_choices(bc_buf + RE_HEADER_LEN, code_len);
    size_t size;

    seen->is_settled = true;
    if (choices == 0 || choices > SEEN_BITS_MAX / seen->width)
        return;
    size = (choices * seen->width + 7) / 8;
    seen->rows = lre_realloc(opaque, NULL, sizeof(seen->rows[0]) * code_len);
    seen->bits = seen->rows ? lre_realloc(opaque, NULL, size) : NULL;
    if (!seen->bits)
        return;
    memset(seen->rows, 0, sizeof(seen->rows[0]) * code_len);
    memset(seen->bits, 0, size);
    seen->code = bc_buf + RE_HEADER_LEN;
}

/* Notes a choice at a place of the text; whether it was noted before. */
static bool lre_was_seen(RESeenStates *seen, const uint8_t *pc, size_t place)
{
    uint16_t *row = &seen->rows[pc - seen->code];
    size_t bit;
    bool was;

    if (*row == 0)
        *row = ++seen->row_count;
    bit = (*row - 1) * seen->width + place;
    was = (seen->bits[bit >> 3] >> (bit & 7)) & 1;
    seen->bits[bit >> 3] |= 1 << (bit & 7);
    return was;
}

static void lre_end_notes(RESeenStates *seen, void *opaque)
{
    if (seen->rows)
        lre_realloc(opaque, seen->rows, 0);
    if (seen->bits)
        lre_realloc(opaque, seen->bits, 0);
}
