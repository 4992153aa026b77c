/* Array.prototype.splice of a plain array: its elements move as blocks.

   Not part of quickjs-ng: see ../README.md. Element by element, a list that is taken apart from its
   front, as scripts do with their data, takes twenty times as long. */

/* Whether elements of an array can be moved with nobody who could see it: all of them are there,
   and none is looked for in a prototype. */
static bool js_is_block_array(JSContext *ctx, JSValueConst obj, int64_t len)
{
    JSObject *p;

    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)
        return false;
    p = JS_VALUE_GET_OBJ(obj);
    return p->class_id == JS_CLASS_ARRAY && p->fast_array && p->extensible &&
        p->shape->proto == JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_ARRAY]) &&
        ctx->std_array_prototype &&
        JS_VALUE_GET_TAG(p->prop[0].u.value) == JS_TAG_INT &&
        (get_shape_prop(p->shape)->flags & JS_PROP_WRITABLE) &&
        p->u.array.count == len;
}

/* Moves 'del' elements of 'obj' from 'start' on into the empty array 'arr', and puts 'items' in their
   place. Returns 1: done; 0: it has to be done element by element, and nothing was; -1: exception */
static int js_block_splice(JSContext *ctx, JSValueConst obj, JSValueConst arr, int64_t len,
                           int64_t start, int64_t del, uint32_t item_count, JSValueConst *items)
{
    JSObject *p, *to;
    int64_t new_len = len - del + item_count;
    JSValue *at;
    uint32_t i;

    if (!js_is_block_array(ctx, obj, len) || !js_is_block_array(ctx, arr, 0) ||
        JS_VALUE_GET_OBJ(obj) == JS_VALUE_GET_OBJ(arr) || new_len > INT32_MAX)
        return 0;
    p = JS_VALUE_GET_OBJ(obj);
    to = JS_VALUE_GET_OBJ(arr);
    if (new_len > p->u.array.u1.size && expand_fast_array(ctx, p, new_len))
        return -1;
    if (del > to->u.array.u1.size && expand_fast_array(ctx, to, del))
        return -1;
    at = p->u.array.u.values + start;
    if (del > 0)
        memcpy(to->u.array.u.values, at, del * sizeof(*at));
    to->u.array.count = del;
    to->prop[0].u.value = js_int32(del);
    if (len > start + del)
        memmove(at + item_count, at + del, (len - start - del) * sizeof(*at));
    for (i = 0; i < item_count; i++)
        at[i] = js_dup(items[i]);
    p->u.array.count = new_len;
    p->prop[0].u.value = js_int32(new_len);
    return 1;
}
