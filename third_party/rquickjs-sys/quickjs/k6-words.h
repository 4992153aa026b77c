/* Error messages in the words of k6's engine.

   Not part of quickjs-ng: see ../README.md. Scripts and their logs show these texts. */

#define JS_WORDS_SIZE 160

/* The value as text, in buf; never throws. */
static const char *js_words_of(JSContext *ctx, char *buf, JSValueConst val)
{
    const char *str;
    JSValue pending = JS_GetException(ctx);

    str = JS_ToCString(ctx, val);
    if (str) {
        snprintf(buf, JS_WORDS_SIZE, "%s", str);
        JS_FreeCString(ctx, str);
    } else {
        JS_FreeValue(ctx, JS_GetException(ctx));
        snprintf(buf, JS_WORDS_SIZE, "%s",
                 JS_IsSymbol(val) ? "Symbol()" : "[object Object]");
    }
    JS_Throw(ctx, pending);
    return buf;
}

static JSValue js_throw_not_object(JSContext *ctx, JSValueConst val)
{
    char buf[JS_WORDS_SIZE];
    return JS_ThrowTypeError(ctx, "Value is not an object: %s", js_words_of(ctx, buf, val));
}

/* fmt is for objects; anything else is no object to begin with */
static JSValue js_throw_not_callable(JSContext *ctx, const char *words, JSValueConst val)
{
    char buf[JS_WORDS_SIZE];
    if (!JS_IsObject(val))
        return js_throw_not_object(ctx, val);
    return JS_ThrowTypeError(ctx, "%s: %s", words, js_words_of(ctx, buf, val));
}

static JSValue js_throw_not_constructor(JSContext *ctx, JSValueConst val)
{
    if (!JS_IsObject(val))
        return js_throw_not_object(ctx, val);
    return JS_ThrowTypeError(ctx, "Value is not a constructor");
}

/* Numbers of two operands of which at most one is a BigInt; frees both. */
static int js_to_unmixed(JSContext *ctx, double *d1, double *d2, JSValue op1, JSValue op2)
{
    if (JS_IsBigInt(op1) || JS_IsBigInt(op2)) {
        JS_FreeValue(ctx, op1);
        JS_FreeValue(ctx, op2);
        JS_ThrowTypeError(ctx, "Cannot mix BigInt and other types, use explicit conversions");
        return -1;
    }
    if (JS_ToFloat64Free(ctx, d1, op1)) {
        JS_FreeValue(ctx, op2);
        return -1;
    }
    return JS_ToFloat64Free(ctx, d2, op2);
}

/* Remembers that a callee was read from a member and is undefined: slot is where it lies. */
static no_inline void js_note_missing(JSContext *ctx, const JSValue *slot, JSAtom atom)
{
    JSRuntime *rt = ctx->rt;
    JS_FreeAtomRT(rt, rt->missing_atom);
    rt->missing_atom = JS_DupAtom(ctx, atom);
    rt->missing_slot = slot;
}

/* The same of a computed member. */
static no_inline void js_note_missing_value(JSContext *ctx, const JSValue *slot, JSValueConst key)
{
    JSAtom atom;
    if (JS_IsObject(key))
        return;
    atom = JS_ValueToAtom(ctx, key);
    if (atom == JS_ATOM_NULL)
        return;
    js_note_missing(ctx, slot, atom);
    JS_FreeAtom(ctx, atom);
}

/* Throws when the undefined callee in slot is a member that its object does not have. */
static no_inline bool js_throw_no_member(JSContext *ctx, const JSValue *slot, JSValueConst obj)
{
    JSRuntime *rt = ctx->rt;
    if (rt->missing_slot != slot || rt->missing_atom == JS_ATOM_NULL)
        return false;
    rt->missing_slot = NULL;
    if (JS_IsObject(obj)) {
        int has = JS_HasProperty(ctx, obj, rt->missing_atom);
        if (has)
            return has < 0;
    }
    JS_ThrowTypeErrorAtom(ctx, "Object has no member '%s'", rt->missing_atom);
    return true;
}

/* Reading a callee from nothing. */
static no_inline JSValue js_throw_no_callee(JSContext *ctx, JSValueConst key)
{
    JSAtom atom = JS_ValueToAtomInternal(ctx, key, JS_TO_STRING_NO_SIDE_EFFECTS);
    if (atom == JS_ATOM_NULL)
        return JS_EXCEPTION;
    JS_ThrowTypeErrorAtom(ctx, "Cannot read property '%s' of undefined or null", atom);
    JS_FreeAtom(ctx, atom);
    return JS_EXCEPTION;
}

static int js_throw_cannot_delete(JSContext *ctx, JSValueConst obj, JSAtom prop)
{
    char name[ATOM_GET_STR_BUF_SIZE], buf[JS_WORDS_SIZE];
    JS_AtomGetStr(ctx, name, sizeof(name), prop);
    JS_ThrowTypeError(ctx, "Cannot delete property '%s' of %s", name,
                      js_words_of(ctx, buf, obj));
    return -1;
}

/* Writing a property of what is no object: JS_PROP_THROW decides as everywhere. */
static int js_throw_no_receiver(JSContext *ctx, int flags, JSValueConst val, JSAtom prop)
{
    char buf[JS_WORDS_SIZE];
    if (JS_IsString(val) && __JS_AtomIsTaggedInt(prop))
        return JS_ThrowTypeErrorReadOnly(ctx, flags, prop);
    return JS_ThrowTypeErrorOrFalse(ctx, flags, "Receiver is not an object: %s",
                                    js_words_of(ctx, buf, val));
}

static JSValue js_throw_needs_new(JSContext *ctx, JSValueConst func)
{
    const char *name = get_func_name(ctx, func);
    JSValue ret = JS_ThrowTypeError(ctx, "Constructor %s requires 'new'", name ? name : "");
    JS_FreeCString(ctx, name);
    return ret;
}

/* The commonest complaints about regular expressions. */
static const char *js_regexp_words(const char *msg)
{
    static const char *const words[][2] = {
        { "expecting ')'", "Unterminated group" },
        { "extraneous characters at the end", "Unmatched ')'" },
        { "invalid group", "Invalid group" },
        { "unexpected end", "Unterminated character class" },
    };
    size_t i;
    for(i = 0; i < countof(words); i++)
        if (!strcmp(msg, words[i][0]))
            return words[i][1];
    return msg;
}

/* The local time zone as it is abbreviated at these fields of a date. */
static const char *js_zone_name(const double *fields)
{
#ifdef _WIN32
    return "UTC";
#else
    static _Thread_local char name[16];
    struct tm tm = { .tm_year = (int)fields[0] - 1900, .tm_mon = (int)fields[1],
                     .tm_mday = (int)fields[2], .tm_hour = (int)fields[3],
                     .tm_min = (int)fields[4], .tm_sec = (int)fields[5] };
    /* by the instant: an hour may be there twice */
    time_t at = timegm(&tm) - (time_t)fields[8] * 60;
    if (!localtime_r(&at, &tm) || !tm.tm_zone)
        return "UTC";
    snprintf(name, sizeof(name), "%s", tm.tm_zone);
    return name;
#endif
}

/* Order of strings for readers: what a character is first, its marks next, small before capital last. */
static uint32_t js_collation_weight(uint32_t c)
{
    static const char order[] = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    const char *found;
    if (c >= 0x300 && c <= 0x36f)
        return 0;
    if (c < 0x80) {
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        if (c >= 'a' && c <= 'z')
            return 300 + c;
        if (c >= '0' && c <= '9')
            return 200 + c;
        found = c ? strchr(order, c) : NULL;
        return found ? 1 + (uint32_t)(found - order) : 0;
    }
    lre_case_conv(&c, c, 1);
    return c + 1000;
}

static int js_collate(const uint32_t *as, int an, const uint32_t *bs, int bn)
{
    int i = 0, j = 0, marks = 0, cases = 0;
    for(;;) {
        uint32_t wa, wb, ma = 0, mb = 0;
        while (i < an && (wa = js_collation_weight(as[i])) == 0)
            ma = ma * 31 + as[i++];
        while (j < bn && (wb = js_collation_weight(bs[j])) == 0)
            mb = mb * 31 + bs[j++];
        if (marks == 0 && ma != mb)
            marks = ma < mb ? -1 : 1;
        if (i == an || j == bn) {
            if (i < an || j < bn)
                return i < an ? 1 : -1;
            return marks ? marks : cases;
        }
        if (wa != wb)
            return wa < wb ? -1 : 1;
        if (cases == 0 && as[i] != bs[j])
            cases = as[i] > bs[j] ? -1 : 1;
        i++, j++;
    }
}

/* JSON.parse: what is wrong with a text, as Go's encoding/json reads it token by token. */

typedef enum {
    JSON_AT_TOP, JSON_AT_ARRAY_START, JSON_AT_ARRAY_VALUE, JSON_AT_ARRAY_COMMA,
    JSON_AT_OBJECT_START, JSON_AT_OBJECT_KEY, JSON_AT_OBJECT_COLON,
    JSON_AT_OBJECT_VALUE, JSON_AT_OBJECT_COMMA,
} JSONPlace;

typedef struct {
    const uint8_t *p, *end;
    JSONPlace at;
    char *msg; /* JS_WORDS_SIZE bytes */
} JSONFault;

#define JSON_ENDS "Unexpected end of JSON input (EOF)"

static bool json_fault(JSONFault *f, const char *context)
{
    char c[8];
    int b = *f->p;
    if (b == '\'' || b == '\\')
        snprintf(c, sizeof(c), "\\%c", b);
    else if (b >= 7 && b <= 13)
        snprintf(c, sizeof(c), "\\%c", "abtnvfr"[b - 7]);
    else if (b < 0x20 || b == 0x7f)
        snprintf(c, sizeof(c), "\\x%02x", b);
    else if (b < 0x80)
        snprintf(c, sizeof(c), "%c", b);
    else if (b <= 0xa0 || b == 0xad)
        snprintf(c, sizeof(c), "\\u%04x", b);
    else /* Go shows the byte as the character of that number */
        snprintf(c, sizeof(c), "%c%c", 0xc0 | (b >> 6), 0x80 | (b & 0x3f));
    snprintf(f->msg, JS_WORDS_SIZE, "invalid character '%s'%s", c, context);
    return false;
}

static bool json_fault_eof(JSONFault *f)
{
    snprintf(f->msg, JS_WORDS_SIZE, "unexpected EOF");
    return false;
}

/* a character that the place does not allow */
static bool json_fault_here(JSONFault *f)
{
    static const char *const contexts[] = {
        [JSON_AT_TOP] = " looking for beginning of value",
        [JSON_AT_ARRAY_START] = " looking for beginning of value",
        [JSON_AT_ARRAY_VALUE] = " looking for beginning of value",
        [JSON_AT_OBJECT_VALUE] = " looking for beginning of value",
        [JSON_AT_ARRAY_COMMA] = " after array element",
        [JSON_AT_OBJECT_START] = "",
        [JSON_AT_OBJECT_KEY] = " looking for beginning of object key string",
        [JSON_AT_OBJECT_COLON] = " after object key",
        [JSON_AT_OBJECT_COMMA] = " after object key:value pair",
    };
    return json_fault(f, contexts[f->at]);
}

static bool json_fault_string(JSONFault *f)
{
    int i;
    for(f->p++; f->p < f->end; f->p++) {
        if (*f->p == '"') {
            f->p++;
            return true;
        }
        if (*f->p < 0x20)
            return json_fault(f, " in string literal");
        if (*f->p != '\\')
            continue;
        if (++f->p >= f->end)
            break;
        if (*f->p == 'u') {
            for(i = 0; i < 4; i++) {
                if (++f->p >= f->end)
                    return json_fault_eof(f);
                if (!((*f->p >= '0' && *f->p <= '9') || (*f->p >= 'a' && *f->p <= 'f') ||
                      (*f->p >= 'A' && *f->p <= 'F')))
                    return json_fault(f, " in \\u hexadecimal character escape");
            }
        } else if (*f->p == 0 || !strchr("bfnrt\\/\"", *f->p)) {
            return json_fault(f, " in string escape code");
        }
    }
    return json_fault_eof(f);
}

static bool json_fault_digits(JSONFault *f, const char *context)
{
    if (f->p >= f->end)
        return json_fault_eof(f);
    if (*f->p < '0' || *f->p > '9')
        return json_fault(f, context);
    while (f->p < f->end && *f->p >= '0' && *f->p <= '9')
        f->p++;
    return true;
}

static bool json_fault_number(JSONFault *f)
{
    if (*f->p == '-')
        f->p++;
    if (f->p < f->end && *f->p == '0')
        f->p++;
    else if (!json_fault_digits(f, " in numeric literal"))
        return false;
    if (f->p < f->end && *f->p == '.') {
        f->p++;
        if (!json_fault_digits(f, " after decimal point in numeric literal"))
            return false;
    }
    if (f->p < f->end && (*f->p == 'e' || *f->p == 'E')) {
        f->p++;
        if (f->p < f->end && (*f->p == '+' || *f->p == '-'))
            f->p++;
        return json_fault_digits(f, " in exponent of numeric literal");
    }
    return true;
}

static bool json_fault_word(JSONFault *f, const char *word)
{
    const char *w;
    char context[48];
    for(w = word; *w; w++, f->p++) {
        if (f->p >= f->end)
            return json_fault_eof(f);
        if (*f->p != *w) {
            snprintf(context, sizeof(context), " in literal %s (expecting '%c')", word, *w);
            return json_fault(f, context);
        }
    }
    return true;
}

/* a string, number or word; false with the message set where it is none */
static bool json_fault_scalar(JSONFault *f)
{
    switch (*f->p) {
    case '"':
        return json_fault_string(f);
    case 't':
        return json_fault_word(f, "true");
    case 'f':
        return json_fault_word(f, "false");
    case 'n':
        return json_fault_word(f, "null");
    default:
        if (*f->p == '-' || (*f->p >= '0' && *f->p <= '9'))
            return json_fault_number(f);
        return json_fault(f, " looking for beginning of value");
    }
}

static bool json_fault_space(JSONFault *f)
{
    while (f->p < f->end && (*f->p == ' ' || *f->p == '\t' || *f->p == '\n' || *f->p == '\r'))
        f->p++;
    return f->p < f->end;
}

/* what follows a whole value: shown as Go prints the token that it reads there */
static void json_fault_tail(JSONFault *f)
{
    const uint8_t *start;
    char shown[64] = "<nil>", scratch[JS_WORDS_SIZE];
    double d;

    if (!json_fault_space(f))
        return;
    start = f->p;
    if (*start == '{' || *start == '[') {
        snprintf(shown, sizeof(shown), "%c", *start);
    } else {
        char *msg = f->msg;
        f->msg = scratch;
        if (json_fault_scalar(f) && *start != 'n') {
            int len = f->p - start;
            if (*start == '"')
                start++, len -= 2;
            if (*start == '-' || (*start >= '0' && *start <= '9')) {
                d = strtod((const char *)start, NULL);
                if (fabs(d) >= 1e21)
                    snprintf(shown, sizeof(shown), "%g", d);
                else
                    snprintf(shown, sizeof(shown), "%.*s", len, start);
            } else {
                snprintf(shown, sizeof(shown), "%.*s", len, start);
            }
        }
        f->msg = msg;
    }
    snprintf(f->msg, JS_WORDS_SIZE, "Unexpected token at the end: %s", shown);
}

/* Reads one value; open[] says of each nested one whether it is an object. */
static bool json_fault_value(JSONFault *f)
{
    uint8_t open[256];
    int depth = 0;

    f->at = JSON_AT_TOP;
    for(;;) {
        int c;
        if (!json_fault_space(f)) {
            snprintf(f->msg, JS_WORDS_SIZE, JSON_ENDS);
            return false;
        }
        c = *f->p;
        if ((c == ']' && (f->at == JSON_AT_ARRAY_START || f->at == JSON_AT_ARRAY_COMMA)) ||
            (c == '}' && (f->at == JSON_AT_OBJECT_START || f->at == JSON_AT_OBJECT_COMMA))) {
            f->p++;
            depth--;
        } else if (c == ',' && f->at == JSON_AT_ARRAY_COMMA) {
            f->p++;
            f->at = JSON_AT_ARRAY_VALUE;
            continue;
        } else if (c == ',' && f->at == JSON_AT_OBJECT_COMMA) {
            f->p++;
            f->at = JSON_AT_OBJECT_KEY;
            continue;
        } else if (c == ':' && f->at == JSON_AT_OBJECT_COLON) {
            f->p++;
            f->at = JSON_AT_OBJECT_VALUE;
            continue;
        } else if (c == '"' && (f->at == JSON_AT_OBJECT_START || f->at == JSON_AT_OBJECT_KEY)) {
            if (!json_fault_string(f))
                return false;
            f->at = JSON_AT_OBJECT_COLON;
            continue;
        } else if (f->at != JSON_AT_TOP && f->at != JSON_AT_ARRAY_START &&
                   f->at != JSON_AT_ARRAY_VALUE && f->at != JSON_AT_OBJECT_VALUE) {
            return json_fault_here(f);
        } else if (c == '[' || c == '{') {
            if (depth == countof(open))
                return false;
            open[depth++] = c == '{';
            f->at = c == '{' ? JSON_AT_OBJECT_START : JSON_AT_ARRAY_START;
            f->p++;
            continue;
        } else if (!json_fault_scalar(f)) {
            return false;
        }
        if (depth == 0)
            return true;
        f->at = open[depth - 1] ? JSON_AT_OBJECT_COMMA : JSON_AT_ARRAY_COMMA;
    }
}

/* Gives the pending SyntaxError of JSON.parse the words of k6's engine. */
static void js_json_words(JSContext *ctx, const char *buf, size_t len)
{
    char msg[JS_WORDS_SIZE] = "";
    JSONFault fault = { .p = (const uint8_t *)buf, .end = (const uint8_t *)buf + len, .msg = msg };
    JSValue pending = JS_GetException(ctx);

    if (JS_IsUncatchableError(pending) || !JS_IsError(pending)) {
        JS_Throw(ctx, pending);
        return;
    }
    if (json_fault_value(&fault))
        json_fault_tail(&fault);
    if (msg[0] == '\0') {
        JS_Throw(ctx, pending);
        return;
    }
    JS_FreeValue(ctx, pending);
    JS_ThrowSyntaxError(ctx, "%s", msg);
}

static JSExportEntry *find_export_entry(JSContext *ctx, const JSModuleDef *m, JSAtom export_name);

static bool js_is_k6_module(JSContext *ctx, JSModuleDef *m)
{
    char buf[ATOM_GET_STR_BUF_SIZE];
    const char *name = JS_AtomGetStr(ctx, buf, sizeof(buf), m->module_name);
    return !strncmp(name, "k6", 2) && (name[2] == '\0' || name[2] == '/');
}

/* The one of k6's modules in which a name that was not found was looked for, there or through modules
   that export it again; NULL: none. Whatever is imported of those is there: see js_missing_k6_export. */
static JSModuleDef *js_k6_module_of(JSContext *ctx, JSModuleDef *m, JSAtom export_name)
{
    for (int steps = 0; steps < 64; steps++) {
        JSExportEntry *me;
        if (js_is_k6_module(ctx, m))
            return m;
        me = find_export_entry(ctx, m, export_name);
        if (!me || me->export_type != JS_EXPORT_TYPE_INDIRECT)
            return NULL;
        m = m->req_module_entries[me->u.req_module_idx].module;
        export_name = me->local_name;
    }
    return NULL;
}

static bool js_lacks_k6_export(JSContext *ctx, JSModuleDef *m, JSAtom export_name)
{
    return js_k6_module_of(ctx, m, export_name) != NULL;
}

/* What an import of a name is that one of k6's modules lacks: undefined where k6 imports a property of
   an object, null where it looks into a map. */
static JSValue js_missing_k6_export(JSContext *ctx, JSModuleDef *m, JSAtom export_name)
{
    static const char *const objects[] = { "k6/http", "k6/html", "k6/execution" };
    char buf[ATOM_GET_STR_BUF_SIZE];
    JSModuleDef *k6_module = js_k6_module_of(ctx, m, export_name);
    const char *name = JS_AtomGetStr(ctx, buf, sizeof(buf), k6_module->module_name);
    for (size_t i = 0; i < countof(objects); i++) {
        if (!strcmp(name, objects[i]))
            return JS_UNDEFINED;
    }
    return JS_NULL;
}
