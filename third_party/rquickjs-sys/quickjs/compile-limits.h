/* What keeps the compiler from taking all time and memory, and finding names from taking long.

   Not part of quickjs-ng: see ../README.md. The compiler looks for names from one declaration to
   the next; what that costs is counted, so that hostile source ends after the same steps on every
   machine, and functions of many names (bundles have tens of thousands) are asked by hash instead. */

/* What is compiled until JS_EndCompile takes so many steps and additional bytes at most. */
void JS_BeginCompile(JSRuntime *rt, uint64_t steps_max, size_t bytes_max)
{
    JSMallocState *s = &rt->malloc_state;

    rt->compile_steps = 0;
    rt->compile_steps_max = steps_max;
    rt->malloc_limit_otherwise = s->malloc_limit;
    if (!s->malloc_limit || s->malloc_size + bytes_max < s->malloc_limit)
        s->malloc_limit = s->malloc_size + bytes_max;
}

void JS_EndCompile(JSRuntime *rt)
{
    rt->compile_steps_max = 0;
    rt->malloc_state.malloc_limit = rt->malloc_limit_otherwise;
}

static inline void js_count_steps(JSContext *ctx, int64_t steps)
{
    ctx->rt->compile_steps += steps;
}

static inline bool js_are_steps_spent(JSContext *ctx)
{
    JSRuntime *rt = ctx->rt;
    return unlikely(rt->compile_steps > rt->compile_steps_max && rt->compile_steps_max);
}

static no_inline int js_throw_steps_spent(JSContext *ctx)
{
    JS_ThrowInternalError(ctx, "the source takes too long to compile");
    return -1;
}

/* The next variable of a name from probe i, j on; -1 when there is none. Only with vars_htab. */
static int js_next_of_name(JSFunctionDef *fd, JSAtom name, uint32_t *i, uint32_t *j)
{
    uint32_t m = fd->var_count + fd->var_count/5;
    m = UINT32_MAX >> clz32(m);
    for (;;) {
        uint32_t idx = fd->vars_htab[*i & m];
        if (idx == UINT32_MAX)
            return -1;
        *i += *j;
        *j += 1;
        if (fd->vars[idx].var_name == name)
            return idx;
    }
}

/* Whether no variable of any scope has this name; false when that is not known. */
static bool js_lacks_var(JSFunctionDef *fd, JSAtom name)
{
    uint32_t i = hash32(name), j = 1;
    return fd->vars_htab && js_next_of_name(fd, name, &i, &j) < 0;
}

/* Where the walk over the variables that a scope sees may begin to find this name: at the variable
   itself where it has no namesake, at -1 where it is not seen. To be asked once all variables are
   declared. */
static int js_first_of_name(JSContext *ctx, JSFunctionDef *fd, JSAtom name, int scope_level)
{
    uint32_t i = hash32(name), j = 1;
    int idx, scope;
    if (!fd->vars_htab || scope_level < 1 || fd->has_parameter_expressions
    ||  !js_lacks_var(fd, JS_ATOM__with_))
        return fd->scopes[scope_level].first;
    idx = js_next_of_name(fd, name, &i, &j);
    if (idx < 0)
        return -1;
    if (js_next_of_name(fd, name, &i, &j) >= 0)
        return fd->scopes[scope_level].first;
    for (scope = scope_level; scope >= 1; scope = fd->scopes[scope].parent) {
        js_count_steps(ctx, 1);
        if (scope == fd->vars[idx].scope_level)
            return idx;
    }
    return -1;
}

/* closure variables from which on they are asked by hash */
#define JS_NAMES_MIN 32

/* Takes the closure variables that are new into fd->names; false without memory for it. */
static bool js_index_closure_vars(JSContext *ctx, JSFunctionDef *fd)
{
    uint32_t i, j, m, *p, count = fd->closure_var_count;

    if (fd->names_size < 2 * count) {
        m = UINT32_MAX >> clz32(4 * count);
        p = js_realloc_rt(ctx->rt, fd->names, (m + 1) * sizeof(*p));
        if (!p)
            return false;
        memset(p, 0xff, (m + 1) * sizeof(*p));
        fd->names = p;
        fd->names_size = m + 1;
        fd->names_count = 0;
    }
    for (m = fd->names_size - 1; fd->names_count < count; fd->names_count++) {
        JSAtom name = fd->closure_var[fd->names_count].var_name;
        for (i = hash32(name), j = 1; *(p = &fd->names[i & m]) != UINT32_MAX; i += j++) {
            if (fd->closure_var[*p].var_name == name)
                break; /* of namesakes the first stays */
        }
        if (*p == UINT32_MAX)
            *p = fd->names_count;
    }
    return true;
}

/* The first closure variable of a name; -1 when there is none. */
static int find_closure_var(JSContext *ctx, JSFunctionDef *fd, JSAtom name)
{
    uint32_t i, j, *p;

    if (fd->closure_var_count >= JS_NAMES_MIN && js_index_closure_vars(ctx, fd)) {
        for (i = hash32(name), j = 1; *(p = &fd->names[i & (fd->names_size - 1)]) != UINT32_MAX;
             i += j++) {
            if (fd->closure_var[*p].var_name == name)
                return *p;
        }
        return -1;
    }
    for (i = 0; i < (uint32_t)fd->closure_var_count; i++) {
        if (fd->closure_var[i].var_name == name)
            return i;
    }
    return -1;
}
