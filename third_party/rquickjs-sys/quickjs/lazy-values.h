/* Properties and module exports whose values are made when they are first asked for.

   Not part of quickjs-ng: see ../README.md. A virtual user's script uses few of the functions that
   it could use, and each that is made costs memory in every virtual user. */

/* Makes a lazy property's value. What makes it may run scripts, which may define the property
   themselves or move it. */
static int js_make_lazy_property(JSContext *ctx, JSObject *p, JSAtom prop,
                                 const JSLazyProperty *lazy)
{
    JSProperty *pr;
    JSShapeProperty *prs;
    JSValue val = lazy->make(ctx, JS_MKPTR(JS_TAG_OBJECT, p), lazy);
    if (JS_IsException(val))
        return -1;
    prs = find_own_property(&pr, p, prop);
    if (!prs || (prs->flags & JS_PROP_TMASK) != JS_PROP_AUTOINIT) {
        JS_FreeValue(ctx, val);
        return 0;
    }
    if (js_shape_prepare_update(ctx, p, &prs)) {
        JS_FreeValue(ctx, val);
        return -1;
    }
    js_autoinit_free(ctx->rt, pr);
    prs->flags &= ~JS_PROP_TMASK;
    pr->u.value = val;
    return 0;
}

/* 'lazy' must outlive the context; it takes the place of a property that is there */
int JS_DefineLazyProperty(JSContext *ctx, JSValueConst obj, JSAtom prop,
                          const JSLazyProperty *lazy, int flags)
{
    if (delete_property(ctx, JS_VALUE_GET_OBJ(obj), prop) < 0)
        return -1;
    return JS_DefineAutoInitProperty(ctx, obj, prop, JS_AUTOINIT_ID_LAZY, (void *)lazy, flags);
}

static int js_lazy_module_init(JSContext *ctx, JSModuleDef *m)
{
    return 0;
}

static bool js_is_lazy_module(JSModuleDef *m)
{
    return m->init_func == js_lazy_module_init;
}

/* the variable of an export that is imported for the first time */
static JSVarRef *js_make_lazy_export(JSContext *ctx, JSModuleDef *m, JSExportEntry *me)
{
    JSVarRef *var_ref;
    JSValue val;
    if (me->export_name == JS_ATOM_default)
        val = js_dup(m->private_value);
    else
        val = JS_GetProperty(ctx, m->private_value, me->export_name);
    if (JS_IsException(val))
        return NULL;
    var_ref = js_create_module_var(ctx, false);
    if (!var_ref) {
        JS_FreeValue(ctx, val);
        return NULL;
    }
    set_value(ctx, var_ref->pvalue, val);
    me->u.local.var_ref = var_ref;
    return var_ref;
}

/* A module whose exports are the enumerable properties of 'values', and, as its default, 'values'
   itself. Frees 'values'. */
JSModuleDef *JS_NewLazyModule(JSContext *ctx, const char *name, JSValue values)
{
    JSPropertyEnum *names = NULL;
    uint32_t count = 0;
    JSModuleDef *m = JS_NewCModule(ctx, name, js_lazy_module_init);
    if (!m) {
        JS_FreeValue(ctx, values);
        return NULL;
    }
    JS_SetModulePrivateValue(ctx, m, values);
    if (JS_GetOwnPropertyNames(ctx, &names, &count, values,
                               JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0)
        return NULL;
    m->export_entries = js_mallocz(ctx, (count + 1) * sizeof(m->export_entries[0]));
    if (!m->export_entries) {
        JS_FreePropertyEnum(ctx, names, count);
        return NULL;
    }
    m->export_entries_size = count + 1;
    for (uint32_t i = 0; i <= count; i++) {
        JSExportEntry *me = &m->export_entries[m->export_entries_count++];
        me->export_name = i < count ? JS_DupAtom(ctx, names[i].atom) : JS_ATOM_default;
        me->local_name = JS_ATOM_NULL;
        me->export_type = JS_EXPORT_TYPE_LOCAL;
    }
    JS_FreePropertyEnum(ctx, names, count);
    return m;
}
