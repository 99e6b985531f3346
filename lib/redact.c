/* Keeping secrets out of what is recorded: by the names that values go by, and
 * by the places where a secret has no name: a URL, a bearer token and a private
 * key's PEM block. */
#include "redact.h"

#include "metadata.h"

/* Names. */

typedef struct word {
  const char *at;
  size_t length;
} word;

static bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

static bool is_alnum(char c) {
  return is_upper(c) || is_lower(c) || (c >= '0' && c <= '9');
}

static char upper(char c) {
  return is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

/* The next word of a name: words end at what is neither letter nor digit, and
 * where camel case starts another. */
static word next_word(const char **name, const char *end) {
  const char *at = *name;
  while (at < end && !is_alnum(*at))
    at++;
  word w = {at, 0};
  while (at < end && is_alnum(*at)) {
    bool last_of_run = w.length > 0 && is_upper(*at) &&
                       (is_lower(at[-1]) ||
                        (is_upper(at[-1]) && at + 1 < end && is_lower(at[1])));
    if (last_of_run) break;
    at++;
    w.length++;
  }
  *name = at;
  return w;
}

static bool same(const char *text, const char *capitals, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (upper(text[i]) != capitals[i]) return false;
  }
  return true;
}

static bool is_one_of(word w, const char *const *list) {
  for (; *list; list++) {
    if (strlen(*list) == w.length && same(w.at, *list, w.length)) return true;
  }
  return false;
}

static bool contains(word w, const char *capitals) {
  size_t length = strlen(capitals);
  for (size_t i = 0; i + length <= w.length; i++) {
    if (same(w.at + i, capitals, length)) return true;
  }
  return false;
}

static bool ends_in(word w, const char *capitals) {
  size_t length = strlen(capitals);
  return w.length >= length && same(w.at + w.length - length, capitals, length);
}

/* Sizes of keys and tokens are no secrets: key_dim, num_key_value_heads. */
static bool measures(const char *rest, const char *end) {
  static const char *const sizes[] = {
      "HEAD",   "HEADS", "DIM",   "DIMS",  "SIZE",  "COUNT", "LEN",
      "LENGTH", "BITS",  "BYTES", "CACHE", "LIMIT", NULL};
  static const char *const value[] = {"VALUE", NULL};
  word w = next_word(&rest, end);
  if (is_one_of(w, value)) w = next_word(&rest, end);
  return is_one_of(w, sizes);
}

/* In this trade a pass goes forward or backward, or is counted. */
static bool is_pass(word w, word before, bool option) {
  static const char *const pass[] = {"PASS", NULL};
  static const char *const kinds[] = {"FORWARD", "BACKWARD", "FWD",
                                      "BWD",     "NUM",      NULL};
  if (!is_one_of(w, pass)) return false;
  return before.length ? !is_one_of(before, kinds) : option;
}

/* "session_id"; a session alone may be one of measuring. */
static bool is_session(word w, word before) {
  static const char *const ids[] = {"SESSIONID", "SESSID", "PHPSESSID", NULL};
  static const char *const session[] = {"SESSION", NULL};
  static const char *const id[] = {"ID", NULL};
  return is_one_of(w, ids) || (is_one_of(w, id) && is_one_of(before, session));
}

static bool is_secret(const char *name, const char *end) {
  static const char *const anywhere[] = {
      "SECRET",   "PASSWORD",   "PASSWD",       "PASSPHRASE",
      "PASSCODE", "CREDENTIAL", "AUTHORIZATION"};
  static const char *const whole[] = {"BEARER", "KEYS",    "AUTH",
                                      "COOKIE", "COOKIES", NULL};
  static const char *const tokens[] = {"TOKENS", NULL};
  static const char *const owners[] = {
      "API", "AUTH", "ACCESS", "REFRESH", "SESSION", "PRIVATE", NULL};
  static const char *const english[] = {"MONKEY",  "DONKEY", "TURKEY",
                                        "HOCKEY",  "JOCKEY", "LACKEY",
                                        "WHISKEY", "HOTKEY", NULL};
  bool owned = false, option = name < end && *name == '-';
  word before = {name, 0};
  for (;;) {
    word w = next_word(&name, end);
    if (!w.length) return false;
    for (size_t i = 0; i < sizeof anywhere / sizeof anywhere[0]; i++) {
      if (contains(w, anywhere[i])) return true;
    }
    if ((is_one_of(w, whole) || ends_in(w, "PWD") || is_session(w, before) ||
         is_pass(w, before, option)) &&
        (owned || !measures(name, end)))
      return true;
    /* "tokens" alone is a count in this trade. */
    if (is_one_of(w, tokens) && owned) return true;
    bool key = ends_in(w, "KEY") && !is_one_of(w, english);
    if ((key || ends_in(w, "TOKEN")) && (owned || !measures(name, end)))
      return true;
    owned = owned || is_one_of(w, owners);
    before = w;
  }
}

bool kmbi_is_secret(const char *name) {
  return name && is_secret(name, name + strlen(name));
}

/* Values. */

static bool in_name(char c) {
  return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_quote(char c) {
  return c == '"' || c == '\'' || c == '`';
}

static const char *skip_spaces(const char *at) {
  while (is_space(*at))
    at++;
  return at;
}

/* End of the value that starts at `at`: the closing quote if it is quoted, the
 * end of the line for a header, else the end of the word. */
static const char *value_end(const char *at, char quote, bool header) {
  if (quote) {
    for (; *at && *at != quote; at++) {
      if (*at == '\\' && at[1]) at++;
    }
    return at;
  }
  while (*at && *at != '\n' && !is_quote(*at) &&
         (header || (!is_space(*at) && *at != '&' && *at != ',' && *at != ';')))
    at++;
  return at;
}

/* `after` is what follows a secret's name. Where its value starts, NULL if
 * there is none; `*end` is where it ends. */
static const char *secret_value(const char *name, const char *after,
                                const char **end) {
  word w = {name, (size_t)(after - name)};
  const char *at = after;
  if (is_quote(*at)) at++;
  at = skip_spaces(at);
  bool header = *at == ':';
  if (*at == '=' || *at == ':') {
    at++;
  } else if (!(is_space(*after) && (*name == '-' || ends_in(w, "BEARER")))) {
    return NULL;
  }
  at = skip_spaces(at);
  char quote = '\0';
  if (is_quote(*at)) quote = *at++;
  *end = value_end(at, quote, header);
  return *end > at ? at : NULL;
}

/* At "://": the end of "user:password", NULL if there is none. */
static const char *userinfo_end(const char *at) {
  const char *end = NULL;
  for (; *at && !is_space(*at) && !is_quote(*at) && !strchr("/?#", *at); at++) {
    if (*at == '@') end = at;
  }
  return end;
}

/* "pass=x": alone it is no secret's name as a key, where it may be an axis. */
static bool is_lone_pass(const char *name, const char *after) {
  word w = {name, (size_t)(after - name)};
  return w.length == 4 && same(name, "PASS", 4) && *after == '=';
}

static void put_named(kmbi_text *to, const char *value) {
  const char *at = value;
  while (*at) {
    const char *end = NULL, *start = NULL, *name = at;
    if (strncmp(at, "://", 3) == 0) {
      start = at + 3;
      end = userinfo_end(start);
    } else if (in_name(*at) && (at == value || !in_name(at[-1]))) {
      while (in_name(*at))
        at++;
      if (is_secret(name, at) || is_lone_pass(name, at))
        start = secret_value(name, at, &end);
    }
    if (start && end) {
      kmbi_text_put_n(to, name, (size_t)(start - name));
      kmbi_text_put(to, KMBI_REDACTED);
      at = end;
    } else {
      if (at == name) at++;
      kmbi_text_put_n(to, name, (size_t)(at - name));
    }
  }
}

/* The next private key in PEM, NULL if there is none; `*end` is behind it, or
 * the end of the text if it is cut. */
static const char *find_pem(const char *at, const char **end) {
  static const char begin[] = "-----BEGIN ", rule[] = "-----";
  for (; (at = strstr(at, begin)); at++) {
    const char *label = at + sizeof begin - 1;
    const char *after = strstr(label, rule);
    const char *kind = strstr(label, "PRIVATE KEY");
    if (!after || !kind || kind > after) continue;
    *end = strstr(after, "-----END ");
    if (*end) *end = strstr(*end + sizeof rule - 1, rule);
    *end = *end ? *end + sizeof rule - 1 : at + strlen(at);
    return at;
  }
  return NULL;
}

static void put_value(kmbi_text *to, const char *value) {
  kmbi_text clean;
  const char *at = value, *end = NULL;
  kmbi_text_init(&clean, to->memory);
  for (const char *pem; (pem = find_pem(at, &end)); at = end) {
    kmbi_text_put_n(&clean, at, (size_t)(pem - at));
    kmbi_text_put(&clean, KMBI_REDACTED);
  }
  kmbi_text_put(&clean, at);
  put_named(to, kmbi_text_get(&clean));
  to->failed = to->failed || clean.failed;
  kmbi_text_release(&clean);
}

void kmbi_redact_value(kmbi_text *to, const char *name, const char *value) {
  if (kmbi_is_secret(name))
    kmbi_text_put(to, KMBI_REDACTED);
  else
    put_value(to, value);
}

/* Command lines. */

/* Whether the next argument is this one's value and a secret: "--token",
 * "Authorization:", "Bearer". */
static bool announces(const char *argument) {
  static const char *const scheme[] = {"BEARER", NULL};
  word w = {argument, strlen(argument)};
  if (!w.length) return false;
  if (is_one_of(w, scheme)) return true;
  if (!kmbi_is_secret(argument)) return false;
  char last = argument[w.length - 1];
  if (last == ':' || last == '=') return true;
  return argument[0] == '-' && !strpbrk(argument, "=: ");
}

/* "--name" and "-n" are options, not the value of the one before. */
static bool is_option(const char *argument) {
  if (argument[0] != '-') return false;
  return (argument[1] == '-' && is_alnum(argument[2])) ||
         (is_alnum(argument[1]) && argument[2] == '\0');
}

static bool is_scheme(const char *argument) {
  static const char *const names[] = {"BEARER", "BASIC", "TOKEN", "DIGEST",
                                      NULL};
  return is_one_of((word){argument, strlen(argument)}, names);
}

/* As a shell takes it: quoted if it must be. */
static void put_quoted(kmbi_text *to, const char *argument) {
  const char *at = argument;
  while (*at && (is_alnum(*at) || strchr("_-.,:/=+@%[]", *at) ||
                 (unsigned char)*at >= 0x80))
    at++;
  if (*argument && !*at) {
    kmbi_text_put(to, argument);
    return;
  }
  kmbi_text_put(to, "'");
  for (at = argument; *at; at++) {
    if (*at == '\'')
      kmbi_text_put(to, "'\\''");
    else
      kmbi_text_put_n(to, at, 1);
  }
  kmbi_text_put(to, "'");
}

void kmbi_redact_arguments(kmbi_text *to, const char *arguments, size_t size) {
  kmbi_text clean;
  bool secret = false;
  for (size_t i = 0; i < size; i += strlen(arguments + i) + 1) {
    const char *argument = arguments + i;
    kmbi_text_init(&clean, to->memory);
    if (i) kmbi_text_put(to, " ");
    if (secret && !is_option(argument)) {
      secret = is_scheme(argument);
      kmbi_text_put(to, KMBI_REDACTED);
    } else {
      secret = announces(argument);
      put_value(&clean, argument);
      put_quoted(to, kmbi_text_get(&clean));
    }
    to->failed = to->failed || clean.failed;
    kmbi_text_release(&clean);
  }
}
