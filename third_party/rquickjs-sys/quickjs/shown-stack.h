/* The property 'stack' of errors, as k6 has it: an own one, which begins with the error's text.

   Not part of quickjs-ng: see ../README.md. An error keeps its frames ('object_data'), and its text and
   shape are made when they are first asked for: most errors are never looked at so closely, and their name
   is often given after they were made. */

/* appends a frame: the frames' own form is "    at NAME (PLACE)", or "    at PLACE" */
static void js_put_shown_frame(DynBuf *dbuf, const char *line, size_t len)
{
    static const char input[] = "<input>", eval[] = "<eval>";
    const char *name, *place, *p;
    size_t name_len, place_len;
    bool is_native;

    if (len < 7 || memcmp(line, "    at ", 7))
        return;
    name = place = line + 7;
    name_len = 0;
    place_len = len - 7;
    if (place_len > 0 && line[len - 1] == ')') {
        for (p = line + len - 1; p > name + 1 && !(p[-1] == ' ' && p[0] == '('); p--)
            ;
        if (p > name + 1) {
            name_len = p - 1 - name;
            place = p + 1;
            place_len = line + len - 1 - place;
        }
    }
    is_native = place_len == 6 && !memcmp(place, "native", 6);
#define NAME_BEGINS(s) (name_len >= sizeof(s) - 1 && !memcmp(name, s, sizeof(s) - 1))
    if (name_len == 11 && NAME_BEGINS("<anonymous>"))
        name_len = 0;
    else if (name_len == 6 && NAME_BEGINS("<eval>"))
        name_len = 0;
    else if (name_len > 4 && (NAME_BEGINS("get ") || NAME_BEGINS("set ")) && name[4] != '(') {
        name += 4;
        name_len -= 4;
    }
    /* what the engine does by methods of symbols, k6's does by itself; those of scripts have no name */
    if (is_native && (name_len == 0 || NAME_BEGINS("[Symbol.")))
        return;
    /* by which the engine puts templates together */
    if (is_native && name_len == 6 && NAME_BEGINS("concat"))
        return;
    if (NAME_BEGINS("[Symbol."))
        name_len = 0;
#undef NAME_BEGINS
    dbuf_putstr(dbuf, "\tat ");
    if (name_len) {
        dbuf_put(dbuf, (const uint8_t *)name, name_len);
        dbuf_putstr(dbuf, " (");
    }
    if (place_len >= sizeof(input) - 1 && !memcmp(place, input, sizeof(input) - 1)) {
        dbuf_putstr(dbuf, eval);
        place += sizeof(input) - 1;
        place_len -= sizeof(input) - 1;
    } else if (!is_native) {
        /* modules of ours have no address */
        bool has_address = false;
        size_t i;
        for (i = 0; i + 3 <= place_len && !has_address; i++)
            has_address = !memcmp(place + i, "://", 3);
        if (!has_address) {
            dbuf->size -= 4 + (name_len ? name_len + 2 : 0);
            return;
        }
    }
    dbuf_put(dbuf, (const uint8_t *)place, place_len);
    dbuf_putstr(dbuf, name_len ? ")\n" : "\n");
}

static void js_put_shown_frames(DynBuf *dbuf, const char *frames, size_t len)
{
    static const char native[] = " (native)";
    const size_t native_len = sizeof(native) - 1;
    const char *line, *end;
    size_t natives_at = 0, size;
    bool is_native, was_native = false;

    for (line = frames; line < frames + len; line = end + 1) {
        end = memchr(line, '\n', frames + len - line);
        if (!end)
            end = frames + len;
        size = dbuf->size;
        js_put_shown_frame(dbuf, line, end - line);
        is_native = end - line > native_len && !memcmp(end - native_len, native, native_len) &&
            !memchr(line, '.', end - line);
        if (is_native && !was_native)
            natives_at = size;
        /* what modules of ours call is none of the script's */
        if (!is_native && was_native && dbuf->size == size)
            dbuf->size = natives_at;
        was_native = is_native;
    }
}

/* Frames as they were collected, as the property shows them; an empty text of anything but text. */
JSValue JS_ShownFrames(JSContext *ctx, JSValueConst frames)
{
    const char *str = NULL;
    size_t len = 0;
    DynBuf dbuf;
    JSValue ret;

    if (JS_IsString(frames) && !(str = JS_ToCStringLen(ctx, &len, frames)))
        return JS_EXCEPTION;
    js_dbuf_init(ctx, &dbuf);
    js_put_shown_frames(&dbuf, str, len);
    JS_FreeCString(ctx, str);
    ret = dbuf_error(&dbuf) ? JS_ThrowOutOfMemory(ctx) : JS_NewStringLen(ctx, (char *)dbuf.buf, dbuf.size);
    dbuf_free(&dbuf);
    return ret;
}

static JSValue js_make_shown_stack(JSContext *ctx, JSValueConst obj, const JSLazyProperty *lazy)
{
    JSObject *p = JS_VALUE_GET_OBJ(obj);
    JSValue text;
    const char *str;
    size_t len;
    DynBuf dbuf;

    text = js_error_toString(ctx, obj, 0, NULL);
    if (JS_IsException(text))
        return text;
    js_dbuf_init(ctx, &dbuf);
    str = JS_ToCStringLen(ctx, &len, text);
    JS_FreeValue(ctx, text);
    if (!str)
        goto fail;
    dbuf_put(&dbuf, (const uint8_t *)str, len);
    dbuf_putc(&dbuf, '\n');
    JS_FreeCString(ctx, str);
    if (JS_IsString(p->u.object_data)) {
        str = JS_ToCStringLen(ctx, &len, p->u.object_data);
        if (!str)
            goto fail;
        js_put_shown_frames(&dbuf, str, len);
        JS_FreeCString(ctx, str);
    }
    if (dbuf_error(&dbuf)) {
        JS_ThrowOutOfMemory(ctx);
        goto fail;
    }
    text = JS_NewStringLen(ctx, (char *)dbuf.buf, dbuf.size);
    dbuf_free(&dbuf);
    return text;
fail:
    dbuf_free(&dbuf);
    return JS_EXCEPTION;
}

static const JSLazyProperty js_shown_stack = { js_make_shown_stack };

/* Gives an error its property 'stack', if it has none. */
static void js_announce_stack(JSContext *ctx, JSObject *p)
{
    if (find_own_property1(p, JS_ATOM_stack) || !p->extensible)
        return;
    if (JS_DefineAutoInitProperty(ctx, JS_MKPTR(JS_TAG_OBJECT, p), JS_ATOM_stack,
                                  JS_AUTOINIT_ID_LAZY, (void *)&js_shown_stack,
                                  JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE) < 0)
        JS_FreeValue(ctx, JS_GetException(ctx));
}

/* The frames of an error as they were collected; undefined of anything else. */
JSValue JS_ErrorFrames(JSContext *ctx, JSValueConst val)
{
    if (!JS_IsError(val))
        return JS_UNDEFINED;
    return js_dup(JS_VALUE_GET_OBJ(val)->u.object_data);
}
