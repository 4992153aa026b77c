/* String.prototype.split by a regular expression: the next match is searched, not tried for at every
   character.

   Not part of quickjs-ng: see ../README.md. The standard tries at each position of the text; where
   nobody can see the tries, those that fail can be left out. */

/* What is searched with; NULL: every position has to be tried. */
typedef struct {
    uint8_t *bytecode;
    uint8_t **capture;
} JSSplitSearch;

/* 'rx' is what the script splits by, 'splitter' what is made of it: the same, and sticky. */
static int js_split_search_begin(JSContext *ctx, JSSplitSearch *search, JSValueConst rx,
                                 JSValueConst splitter)
{
    JSRegExp *re = js_get_regexp(ctx, rx, false), *sticky = js_get_regexp(ctx, splitter, false);
    JSValue exec;
    int flags, count;
    bool is_own;

    search->bytecode = NULL;
    search->capture = NULL;
    if (!re || !sticky || re->pattern != sticky->pattern)
        return 0;
    flags = lre_get_flags(str8(re->bytecode));
    if ((flags & (LRE_FLAG_STICKY | LRE_FLAG_UNICODE | LRE_FLAG_UNICODE_SETS)) ||
        (flags | LRE_FLAG_STICKY) != lre_get_flags(str8(sticky->bytecode)))
        return 0;
    exec = JS_GetProperty(ctx, splitter, JS_ATOM_exec);
    if (JS_IsException(exec))
        return -1;
    is_own = JS_IsCFunction(ctx, exec, js_regexp_exec, 0);
    JS_FreeValue(ctx, exec);
    count = lre_get_alloc_count(str8(re->bytecode));
    if (!is_own || count <= 0)
        return 0;
    search->capture = js_malloc(ctx, sizeof(search->capture[0]) * count);
    if (!search->capture)
        return -1;
    search->bytecode = str8(re->bytecode);
    return 0;
}

/* The first position from 'from' on at which there is a match; the length of the text: none. */
static uint32_t js_split_search_next(JSContext *ctx, JSSplitSearch *search, JSString *text,
                                     uint32_t from)
{
    int shift = text->is_wide_char;
    uint8_t *chars = str8(text);

    if (!search->bytecode)
        return from;
    switch (lre_exec(search->capture, search->bytecode, chars, from, text->len, shift, ctx)) {
    case 1:
        return (search->capture[0] - chars) >> shift;
    case 0:
        return text->len;
    default:
        /* The try at this position fails of the same, and says so. */
        return from;
    }
}
