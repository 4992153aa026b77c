/* Which function waits for another: a trace that ends in an asynchronous function, which goes on after an
   'await', continues with the one that awaits its promise, as in k6's engine.

   Not part of quickjs-ng: see ../README.md. Only the one that waits alone is told, and not one that waits
   through other promises. */

/* The frame of the asynchronous function that waits for the one of this frame; NULL: there is none. */
static JSStackFrame *js_awaiting_frame(JSStackFrame *sf)
{
    JSObject *p = JS_VALUE_GET_OBJ(sf->cur_func);
    JSAsyncFunctionData *s;
    JSPromiseFunctionData *f;
    JSPromiseData *promise;
    JSPromiseReactionData *reaction;
    struct list_head *reactions;

    if (!js_class_has_bytecode(p->class_id) ||
        p->u.func.function_bytecode->func_kind != JS_FUNC_ASYNC || !sf->cur_gc_obj)
        return NULL;
    s = container_of(sf->cur_gc_obj, JSAsyncFunctionData, header);
    if (JS_VALUE_GET_TAG(s->resolving_funcs[0]) != JS_TAG_OBJECT)
        return NULL;
    f = JS_GetOpaque(s->resolving_funcs[0], JS_CLASS_PROMISE_RESOLVE_FUNCTION);
    promise = f ? JS_GetOpaque(f->promise, JS_CLASS_PROMISE) : NULL;
    if (!promise)
        return NULL;
    reactions = &promise->promise_reactions[0];
    if (list_empty(reactions) || reactions->next != reactions->prev)
        return NULL;
    reaction = list_entry(reactions->next, JSPromiseReactionData, link);
    if (JS_VALUE_GET_TAG(reaction->handler) != JS_TAG_OBJECT)
        return NULL;
    p = JS_VALUE_GET_OBJ(reaction->handler);
    if (p->class_id != JS_CLASS_ASYNC_FUNCTION_RESOLVE || !p->u.async_function_data->is_active)
        return NULL;
    return &p->u.async_function_data->func_state.frame;
}
