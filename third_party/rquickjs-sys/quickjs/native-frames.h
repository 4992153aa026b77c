/* Frames of functions that are neither bytecode nor of the engine: natives of the host, and bound functions.
   Traces tell the natives that have a name in Go, as k6's do, and bound functions;
   of the engine's own functions they tell no constructors.

   Not part of quickjs-ng: see ../README.md. */

static bool js_is_framed_class(JSClassID class_id)
{
    return class_id >= JS_CLASS_INIT_COUNT || class_id == JS_CLASS_BOUND_FUNCTION;
}

static JSValue js_call_in_frame(JSContext *ctx, JSClassCall *call, JSValueConst func_obj,
                                JSValueConst this_obj, int argc, JSValueConst *argv, int flags)
{
    JSRuntime *rt = ctx->rt;
    JSStackFrame frame = { 0 };
    JSValue ret;

    frame.cur_func = unsafe_unconst(func_obj);
    frame.prev_frame = rt->current_stack_frame;
    /* what natives do is as strict as who called them */
    frame.is_strict_mode = is_strict_mode(ctx);
    rt->current_stack_frame = &frame;
    ret = call(ctx, func_obj, this_obj, argc, argv, flags);
    rt->current_stack_frame = frame.prev_frame;
    return ret;
}

/* Whether traces leave this frame out. */
static bool js_is_untold_frame(JSStackFrame *sf, const char *name)
{
    JSObject *p = JS_VALUE_GET_OBJ(sf->cur_func);

    if (p->class_id == JS_CLASS_C_FUNCTION)
        return sf->is_constructor;
    if (!js_is_framed_class(p->class_id))
        return false;
    return !name || (p->class_id != JS_CLASS_BOUND_FUNCTION && !strchr(name, '.'));
}

/* The frame itself, or the next one of the engine's. */
static JSStackFrame *js_engine_frame(JSStackFrame *sf)
{
    while (sf && JS_VALUE_GET_TAG(sf->cur_func) == JS_TAG_OBJECT &&
           js_is_framed_class(JS_VALUE_GET_OBJ(sf->cur_func)->class_id))
        sf = sf->prev_frame;
    return sf;
}
