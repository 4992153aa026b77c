/* The atoms that every runtime has: those of quickjs-atom.h and the names of shared-names.h.

   Not part of quickjs-ng: see ../README.md. They are the same in each runtime and there are hundreds of
   them, so the runtimes of a thread share one block. Their texts and hashes never change; reference
   counts do, and so do weak references to symbols, which is why threads share nothing: **a runtime
   must be used and freed on the thread that made it**. The count of the block itself keeps each of its
   atoms alive. The last runtime frees it. */

static uint32_t hash_string(JSString *str, uint32_t h);
static int js_string_memcmp(JSString *p1, JSString *p2, int len);

static const char *const js_shared_names[] = {
#define DEF(str) str,
#include "shared-names.h"
#undef DEF
};

/* atoms below this are shared */
#define JS_ATOM_SHARED_END (JS_ATOM_END + (JSAtom)countof(js_shared_names))
/* a power of two, at least the number of atoms */
#define JS_SHARED_HASH_SIZE 1024

typedef struct JSSharedAtoms {
    size_t runtime_count;
    /* first atom of a chain that goes on with hash_next */
    uint16_t hash[JS_SHARED_HASH_SIZE];
    JSAtomStruct *atoms[JS_ATOM_SHARED_END];
} JSSharedAtoms;

#if defined(_MSC_VER)
static __declspec(thread) JSSharedAtoms *js_shared_atoms;
#else
static _Thread_local JSSharedAtoms *js_shared_atoms;
#endif

static inline JSAtomStruct *js_atom(JSRuntime *rt, JSAtom atom)
{
    if (atom < JS_ATOM_SHARED_END)
        return rt->shared_atoms->atoms[atom];
    return rt->atom_array[atom - JS_ATOM_SHARED_END];
}

static inline bool js_is_shared_atom(JSRuntime *rt, const JSAtomStruct *p)
{
    const JSSharedAtoms *shared = rt->shared_atoms;
    uintptr_t at = (uintptr_t)p;
    return at >= (uintptr_t)shared->atoms[0] &&
        at <= (uintptr_t)shared->atoms[JS_ATOM_SHARED_END - 1];
}

/* the shared atom of a text, or JS_ATOM_NULL */
static inline JSAtom js_find_shared_atom(JSRuntime *rt, JSString *str, uint32_t hash)
{
    const JSSharedAtoms *shared = rt->shared_atoms;
    JSAtom atom = shared->hash[hash & (JS_SHARED_HASH_SIZE - 1)];
    while (atom != JS_ATOM_NULL) {
        JSAtomStruct *p = shared->atoms[atom];
        if (p->hash == hash && p->len == str->len && js_string_memcmp(p, str, str->len) == 0)
            return atom;
        atom = p->hash_next;
    }
    return JS_ATOM_NULL;
}

static inline JSAtom js_find_shared_atom8(JSRuntime *rt, const char *str, size_t len, uint32_t hash)
{
    const JSSharedAtoms *shared = rt->shared_atoms;
    JSAtom atom = shared->hash[hash & (JS_SHARED_HASH_SIZE - 1)];
    while (atom != JS_ATOM_NULL) {
        JSAtomStruct *p = shared->atoms[atom];
        if (p->hash == hash && p->len == len && memcmp(str8(p), str, len) == 0)
            return atom;
        atom = p->hash_next;
    }
    return JS_ATOM_NULL;
}

static int js_shared_atom_type(JSAtom atom)
{
    if (atom == JS_ATOM_Private_brand)
        return JS_ATOM_TYPE_PRIVATE;
    if (atom >= JS_ATOM_Symbol_toPrimitive && atom < JS_ATOM_END)
        return JS_ATOM_TYPE_SYMBOL;
    return JS_ATOM_TYPE_STRING;
}

static const char *js_shared_text(JSAtom atom, const char **next)
{
    const char *text;
    if (atom >= JS_ATOM_END)
        return js_shared_names[atom - JS_ATOM_END];
    text = *next;
    *next += strlen(text) + 1;
    return text;
}

/* bytes of an atom in the block, with the header that every block of a runtime has */
static size_t js_shared_atom_size(size_t len)
{
    size_t size = offsetof(JSMallocBlockHeader, user_data) + sizeof(JSAtomStruct) + len + 1;
    return (size + 7) & ~(size_t)7;
}

static void js_init_shared_atom(JSSharedAtoms *shared, JSAtom atom, JSAtomStruct *p,
                                const char *text, size_t len)
{
    int type = atom == JS_ATOM_NULL ? JS_ATOM_TYPE_SYMBOL : js_shared_atom_type(atom);
    JS_REF_COUNT(p) = 1;
    p->len = len;
    p->kind = JS_STRING_KIND_NORMAL;
    memcpy(str8(p), text, len + 1);
    p->hash_next = atom;
    shared->atoms[atom] = p;
    if (type == JS_ATOM_TYPE_STRING) {
        uint32_t hash = hash_string(p, type) & JS_ATOM_HASH_MASK;
        uint16_t *first = &shared->hash[hash & (JS_SHARED_HASH_SIZE - 1)];
        p->hash = hash;
        p->hash_next = *first;
        *first = atom;
    } else if (type == JS_ATOM_TYPE_PRIVATE) {
        p->hash = JS_ATOM_HASH_PRIVATE;
        type = JS_ATOM_TYPE_SYMBOL;
    } else {
        p->hash = JS_ATOM_HASH_SYMBOL;
    }
    p->atom_type = type;
}

/* Gives a runtime the shared atoms of its thread, made when it is the first. */
static int js_take_shared_atoms(JSRuntime *rt)
{
    JSSharedAtoms *shared = js_shared_atoms;
    const char *next = js_atom_init;
    size_t size = js_shared_atom_size(0);
    uint8_t *at;

    if (!shared) {
        for (JSAtom atom = 1; atom < JS_ATOM_SHARED_END; atom++)
            size += js_shared_atom_size(strlen(js_shared_text(atom, &next)));
        shared = calloc(1, sizeof(*shared) + size);
        if (!shared)
            return -1;
        next = js_atom_init;
        at = (uint8_t *)(shared + 1);
        for (JSAtom atom = JS_ATOM_NULL; atom < JS_ATOM_SHARED_END; atom++) {
            const char *text = atom == JS_ATOM_NULL ? "" : js_shared_text(atom, &next);
            size_t len = strlen(text);
            js_init_shared_atom(shared, atom, (void *)((JSMallocBlockHeader *)at)->user_data, text, len);
            at += js_shared_atom_size(len);
        }
        js_shared_atoms = shared;
    }
    shared->runtime_count++;
    rt->shared_atoms = shared;
    return 0;
}

static void js_give_shared_atoms(JSRuntime *rt)
{
    JSSharedAtoms *shared = rt->shared_atoms;
    if (!shared)
        return;
    assert(shared == js_shared_atoms);
    if (--shared->runtime_count == 0) {
        js_shared_atoms = NULL;
        free(shared);
    }
}
