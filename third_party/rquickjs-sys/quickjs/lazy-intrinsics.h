/* Intrinsics that a context gets when its script first names one of their globals.

   Not part of quickjs-ng: see ../README.md. A virtual user's script uses few of them, and each
   costs memory in every virtual user. A global of such an intrinsic is an autoinit property of its
   own kind; when it is looked at, the properties of its group make room and the intrinsic is added as JS_NewContext would have added it. What makes an object
   of a class without naming a global asks js_class_proto, which adds the group of the class. */

struct JSLazyIntrinsic {
    int (*add)(JSContext *ctx);
    /* classes whose prototypes it makes: first to last, none when last is 0 */
    uint16_t class_first;
    uint16_t class_last;
    /* its globals */
    const char *names[18];
};

static int js_add_disposable_stack(JSContext *ctx)
{
    ctx->class_proto[JS_CLASS_DISPOSABLE_STACK] = JS_NewObject(ctx);
    JS_SetPropertyFunctionList(ctx, ctx->class_proto[JS_CLASS_DISPOSABLE_STACK],
                               js_disposable_stack_proto_funcs,
                               countof(js_disposable_stack_proto_funcs));
    JS_NewGlobalCConstructorMagic(ctx, "DisposableStack",
                                  js_disposable_stack_constructor, 0,
                                  ctx->class_proto[JS_CLASS_DISPOSABLE_STACK],
                                  JS_CLASS_DISPOSABLE_STACK);
    return 0;
}

static int js_add_async_disposable_stack(JSContext *ctx)
{
    ctx->class_proto[JS_CLASS_ASYNC_DISPOSABLE_STACK] = JS_NewObject(ctx);
    JS_SetPropertyFunctionList(ctx, ctx->class_proto[JS_CLASS_ASYNC_DISPOSABLE_STACK],
                               js_async_disposable_stack_proto_funcs,
                               countof(js_async_disposable_stack_proto_funcs));
    JS_NewGlobalCConstructorMagic(ctx, "AsyncDisposableStack",
                                  js_disposable_stack_constructor, 0,
                                  ctx->class_proto[JS_CLASS_ASYNC_DISPOSABLE_STACK],
                                  JS_CLASS_ASYNC_DISPOSABLE_STACK);
    return 0;
}

static const JSLazyIntrinsic js_lazy_intrinsics[] = {
    { JS_AddIntrinsicDate, JS_CLASS_DATE, JS_CLASS_DATE, { "Date" } },
    { JS_AddIntrinsicRegExp, JS_CLASS_REGEXP, JS_CLASS_REGEXP, { "RegExp" } },
    { JS_AddIntrinsicProxy, 0, 0, { "Proxy" } },
    { JS_AddIntrinsicMapSet, JS_CLASS_MAP, JS_CLASS_WEAKSET,
      { "Map", "Set", "WeakMap", "WeakSet" } },
    { JS_AddIntrinsicTypedArrays, JS_CLASS_ARRAY_BUFFER, JS_CLASS_DATAVIEW,
      { "ArrayBuffer", "SharedArrayBuffer", "Uint8ClampedArray", "Int8Array", "Uint8Array",
        "Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "BigInt64Array",
        "BigUint64Array", "Float16Array", "Float32Array", "Float64Array", "DataView",
        "Atomics" } },
    { JS_AddIntrinsicWeakRef, JS_CLASS_WEAK_REF, JS_CLASS_FINALIZATION_REGISTRY,
      { "WeakRef", "FinalizationRegistry" } },
    { JS_AddIntrinsicDOMException, JS_CLASS_DOM_EXCEPTION, JS_CLASS_DOM_EXCEPTION,
      { "DOMException" } },
    { js_add_disposable_stack, JS_CLASS_DISPOSABLE_STACK, JS_CLASS_DISPOSABLE_STACK,
      { "DisposableStack" } },
    { js_add_async_disposable_stack, JS_CLASS_ASYNC_DISPOSABLE_STACK,
      JS_CLASS_ASYNC_DISPOSABLE_STACK, { "AsyncDisposableStack" } },
};

/* Announces the globals of all of them. */
static int js_announce_lazy_intrinsics(JSContext *ctx)
{
    for (size_t i = 0; i < countof(js_lazy_intrinsics); i++) {
        const JSLazyIntrinsic *lazy = &js_lazy_intrinsics[i];
        for (const char *const *name = lazy->names; *name; name++) {
            JSAtom atom = JS_NewAtom(ctx, *name);
            int ret;
            if (atom == JS_ATOM_NULL)
                return -1;
            ret = JS_DefineAutoInitProperty(ctx, ctx->global_obj, atom, JS_AUTOINIT_ID_INTRINSIC,
                                            (void *)lazy,
                                            JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
            JS_FreeAtom(ctx, atom);
            if (ret < 0)
                return -1;
        }
    }
    return 0;
}

/* Takes the announcements of a group away (a global that the script set stays) and adds it. */
static int js_add_lazy_intrinsic(JSContext *ctx, const JSLazyIntrinsic *lazy)
{
    JSObject *global = JS_VALUE_GET_OBJ(ctx->global_obj);
    for (const char *const *name = lazy->names; *name; name++) {
        JSAtom atom = JS_NewAtom(ctx, *name);
        JSProperty *pr;
        JSShapeProperty *prs;
        int ret = true;
        if (atom == JS_ATOM_NULL)
            return -1;
        prs = find_own_property(&pr, global, atom);
        if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_AUTOINIT)
            ret = delete_property(ctx, global, atom);
        JS_FreeAtom(ctx, atom);
        if (ret < 0)
            return -1;
    }
    return lazy->add(ctx);
}

/* Adds the group that makes the prototype of a class, if there is one. */
static no_inline void js_add_class_intrinsic(JSContext *ctx, int class_id)
{
    for (size_t i = 0; i < countof(js_lazy_intrinsics); i++) {
        const JSLazyIntrinsic *lazy = &js_lazy_intrinsics[i];
        if (lazy->class_last && class_id >= lazy->class_first && class_id <= lazy->class_last) {
            /* out of memory: the prototype stays null */
            if (js_add_lazy_intrinsic(ctx, lazy))
                JS_FreeValue(ctx, JS_GetException(ctx));
            return;
        }
    }
}
