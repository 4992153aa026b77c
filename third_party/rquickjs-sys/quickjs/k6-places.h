/* Where traces say that something happened, as k6's engine says it: a call at its parenthesis, 'new' and
   'throw' at these words, a property at its name or bracket, an operation at the beginning of its left side, a
   pattern at what it takes apart.

   Not part of quickjs-ng: see ../README.md. What is called as a method, or counted up, is looked up where its
   object was found, since only the call or the change has a place of its own. */

static JSPlace js_place_of_token(JSParseState *s)
{
    return (JSPlace){ s->token.line_num, (int)(s->token.ptr - s->token.line_start) + 1 };
}

static void js_emit_place(JSParseState *s, JSPlace place)
{
    emit_source_loc_at(s, place.line_num, place.col_num);
}

/* Before the instruction that gets a property. */
static void js_place_member(JSParseState *s, JSPlace place)
{
    JSFunctionDef *fd = s->cur_func;

    fd->place_before_member = fd->place;
    js_emit_place(s, place);
    fd->member_pos = fd->byte_code.size;
}

/* The last instruction gets a property that is called or changed, if it gets one: this happens where its object
   was found. */
static void js_unplace_member(JSParseState *s)
{
    JSFunctionDef *fd = s->cur_func;

    if (fd->last_opcode_pos < 9 || fd->member_pos != fd->last_opcode_pos || fd->place_before_member.line_num == 0)
        return;
    put_u32(fd->byte_code.buf + fd->member_pos - 8, fd->place_before_member.line_num);
    put_u32(fd->byte_code.buf + fd->member_pos - 4, fd->place_before_member.col_num);
    fd->place = fd->place_before_member;
}

/* At the beginning of a pattern; gives where its place is kept, 0 of one within another. */
static int js_place_pattern(JSParseState *s)
{
    JSFunctionDef *fd = s->cur_func;

    if (!fd->is_outer_pattern)
        return 0;
    fd->is_outer_pattern = false;
    js_emit_place(s, js_place_of_token(s));
    return fd->byte_code.size - 8;
}

/* Its initializer has been read: the pattern's code, which stands before that, happens there,
   or where its function begins if nothing of that has a place. */
static void js_replace_pattern(JSParseState *s, int place_pos)
{
    JSFunctionDef *fd = s->cur_func;
    JSPlace place = fd->place;

    if (!place_pos)
        return;
    if (!place.line_num)
        place = (JSPlace){ fd->line_num, fd->col_num };
    put_u32(fd->byte_code.buf + place_pos, place.line_num);
    put_u32(fd->byte_code.buf + place_pos + 4, place.col_num);
}
