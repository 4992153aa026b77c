/* Whether what a quantifier repeats can be empty.

   Not part of quickjs-ng: see ../README.md. Where it cannot, a loop need not check that it went on,
   and a choice depends on nothing but its place (seen-states.h). */

/* Follows the bytecode of an atom along all its ways, as far as the first character of each.
   Conservative: what counts, looks around or cannot be followed may be empty. */
static bool re_may_be_empty(const uint8_t *bc_buf, int bc_buf_len, void *opaque)
{
    uint8_t *seen;
    int *todo;
    int todo_count = 0, pos, len, target;
    bool is_found = true;

    if (bc_buf_len <= 0)
        return true;
    seen = lre_realloc(opaque, NULL, bc_buf_len);
    todo = lre_realloc(opaque, NULL, sizeof(todo[0]) * bc_buf_len);
    if (!seen || !todo)
        goto done;
    memset(seen, 0, bc_buf_len);
    todo[todo_count++] = 0;
    seen[0] = 1;
    while (todo_count > 0) {
        pos = todo[--todo_count];
        for (;;) {
            target = -1;
            len = reopcode_info[bc_buf[pos]].size;
            switch (bc_buf[pos]) {
            case REOP_range:
            case REOP_range_i:
            case REOP_range32:
            case REOP_range32_i:
            case REOP_char:
            case REOP_char_i:
            case REOP_char32:
            case REOP_char32_i:
            case REOP_dot:
            case REOP_any:
            case REOP_space:
            case REOP_not_space:
                goto next_way;
            case REOP_line_start:
            case REOP_line_start_m:
            case REOP_line_end:
            case REOP_line_end_m:
            case REOP_word_boundary:
            case REOP_word_boundary_i:
            case REOP_not_word_boundary:
            case REOP_not_word_boundary_i:
            case REOP_save_start:
            case REOP_save_end:
            case REOP_save_reset:
            case REOP_set_char_pos:
            case REOP_check_advance:
                break;
            case REOP_goto:
                pos = pos + len + (int)get_u32(bc_buf + pos + 1);
                len = 0;
                break;
            case REOP_split_goto_first:
            case REOP_split_next_first:
                target = pos + len + (int)get_u32(bc_buf + pos + 1);
                break;
            default:
                goto done;
            }
            pos += len;
            if (pos < 0 || pos >= bc_buf_len || target < -1 || target >= bc_buf_len)
                goto done;
            if (target >= 0 && !seen[target]) {
                seen[target] = 1;
                todo[todo_count++] = target;
            }
            if (seen[pos])
                goto next_way;
            seen[pos] = 1;
        }
    next_way:;
    }
    is_found = false;
done:
    if (seen)
        lre_realloc(opaque, seen, 0);
    if (todo)
        lre_realloc(opaque, todo, 0);
    return is_found;
}
