/* What is recorded, and what must not be. */
#include "samples.h"

#include "device.h"
#include "metadata.h"
#include "redact.h"

#include "error.h"

#include <unistd.h>

static void names_of_secrets_are_known(void) {
  static const char *const secrets[] = {"TOKEN",
                                        "token",
                                        "HF_TOKEN",
                                        "--token",
                                        "hf-token",
                                        "hfToken",
                                        "GITHUBTOKEN",
                                        "auth_tokens",
                                        "API_KEY",
                                        "apikey",
                                        "api.key",
                                        "apiKey",
                                        "APIKey",
                                        "AWS_ACCESS_KEY_ID",
                                        "SSH_KEY",
                                        "key",
                                        "--key",
                                        "KEYS",
                                        "private-key",
                                        "signingKey",
                                        "SECRET",
                                        "client_secret",
                                        "mySecretValue",
                                        "secrets",
                                        "PASSWORD",
                                        "db.password",
                                        "PGPASSWORD",
                                        "passwd",
                                        "MYSQL_PASSWD",
                                        "credential",
                                        "AZURE_CREDENTIALS",
                                        "passphrase",
                                        "Authorization",
                                        "Proxy-Authorization",
                                        "DB_PASS",
                                        "dbPass",
                                        "--pass",
                                        "env.PASS",
                                        "caller.pass",
                                        "smtp-pass",
                                        "passcode",
                                        "PWD",
                                        "MYSQL_PWD",
                                        "dbpwd",
                                        "Cookie",
                                        "Set-Cookie",
                                        "cookies",
                                        "auth",
                                        "PROXY_AUTH",
                                        "--auth",
                                        "session_id",
                                        "sessionId",
                                        "sessionid",
                                        "PHPSESSID",
                                        "BEARER",
                                        "bearer_value",
                                        "API_KEY_SIZE",
                                        "secret_key_dim",
                                        "access_token_count",
                                        "caller.wandb_api_key"};
  for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
    if (kmbi_is_secret(secrets[i])) continue;
    fprintf(stderr, "not taken for a secret: %s\n", secrets[i]);
    exit(1);
  }
}

static void harmless_names_are_left_alone(void) {
  static const char *const harmless[] = {"",
                                         "monkey",
                                         "MONKEY",
                                         "turkey_count",
                                         "keyboard",
                                         "keypoints",
                                         "tokenizer",
                                         "tokenize",
                                         "tokens",
                                         "max_tokens",
                                         "--num-tokens",
                                         "maxTokens",
                                         "key_dim",
                                         "keyDim",
                                         "num_key_value_heads",
                                         "key_cache",
                                         "token_count",
                                         "token-limit",
                                         "path",
                                         "host.cpu",
                                         "device.name",
                                         "OMP_PLACES",
                                         "author",
                                         "authority",
                                         "compass",
                                         "bypass",
                                         "bear",
                                         "pass",
                                         "forward_pass",
                                         "backwardPass",
                                         "num_pass",
                                         "pass_count",
                                         "db_pass_count",
                                         "passes",
                                         "low_passband",
                                         "cookie_size",
                                         "cookiecutter",
                                         "session",
                                         "id",
                                         "job_id",
                                         "pin",
                                         "pin_memory",
                                         "cpupwdx",
                                         "NCCL_ALGO",
                                         "env.LD_PRELOAD",
                                         "--keep",
                                         "whiskey"};
  for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
    if (!kmbi_is_secret(harmless[i])) continue;
    fprintf(stderr, "taken for a secret: %s\n", harmless[i]);
    exit(1);
  }
  REQUIRE(!kmbi_is_secret(NULL));
}

#define HIDDEN "[redacted]"

static void secrets_inside_of_values_are_replaced(void) {
  static const struct {
    const char *name, *given, *kept;
  } cases[] = {
      {"token", "abc", HIDDEN},
      {NULL, "token=abc", "token=" HIDDEN},
      {"build", "gcc -O2 -DTOKEN=abc -g", "gcc -O2 -DTOKEN=" HIDDEN " -g"},
      {NULL, "a=1&api_key=x+y&b=2", "a=1&api_key=" HIDDEN "&b=2"},
      {NULL, "{\"password\": \"a b\", \"n\": 3}",
       "{\"password\": \"" HIDDEN "\", \"n\": 3}"},
      {NULL, "password = 'it\\'s' rest", "password = '" HIDDEN "' rest"},
      {NULL, "Authorization: Basic abc==", "Authorization: " HIDDEN},
      {NULL, "a\nAuthorization: Basic abc==\nb",
       "a\nAuthorization: " HIDDEN "\nb"},
      {NULL, "X: Bearer abc.def rest", "X: Bearer " HIDDEN " rest"},
      {NULL, "run --token abc --n 3", "run --token " HIDDEN " --n 3"},
      {NULL, "https://u:p@host/x?y", "https://" HIDDEN "@host/x?y"},
      {NULL, "https://u:p@ss@host", "https://" HIDDEN "@host"},
      {NULL, "git+https://abc@host", "git+https://" HIDDEN "@host"},
      {NULL, "http://host/@scope:1", "http://host/@scope:1"},
      {NULL, "https://host/?access_token=q#f",
       "https://host/?access_token=" HIDDEN},
      {NULL, "Intel(R) Xeon(R) CPU @ 2.70GHz",
       "Intel(R) Xeon(R) CPU @ 2.70GHz"},
      {NULL, "max_tokens=512 tokenizer: x", "max_tokens=512 tokenizer: x"},
      {NULL, "the key insight, a token ring", "the key insight, a token ring"},
      {NULL, "pass=abc n=3", "pass=" HIDDEN " n=3"},
      {NULL, "all tests pass: error 1e-6", "all tests pass: error 1e-6"},
      {NULL, "one pass over 3 rows", "one pass over 3 rows"},
      {NULL, "Cookie: session=abc; id=3\nb", "Cookie: " HIDDEN "\nb"},
      {NULL, "MYSQL_PWD=abc x", "MYSQL_PWD=" HIDDEN " x"},
      {NULL,
       "a -----BEGIN RSA PRIVATE KEY-----\nMII=\n-----END RSA PRIVATE "
       "KEY----- b",
       "a " HIDDEN " b"},
      {NULL,
       "K=-----BEGIN PRIVATE KEY-----\nMII=\n-----END PRIVATE KEY-----"
       "-----BEGIN EC PRIVATE KEY-----\nMIJ",
       "K=" HIDDEN HIDDEN},
      {NULL,
       "key=-----BEGIN PRIVATE KEY-----\nMII=\n-----END PRIVATE KEY-----"
       "\nb",
       "key=" HIDDEN "\nb"},
      {NULL,
       "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"
       "-----BEGIN OPENSSH PRIVATE KEY-----\nb3",
       "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n" HIDDEN},
      {NULL, "-----BEGIN PUBLIC KEY-----\nMII=\n-----END PUBLIC KEY-----",
       "-----BEGIN PUBLIC KEY-----\nMII=\n-----END PUBLIC KEY-----"},
      {NULL, "token", "token"},
      {NULL, "token=", "token="},
      {NULL, "", ""},
  };
  kmbi_memory memory = kmbi_memory_from(NULL);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kmbi_text text;
    kmbi_text_init(&text, &memory);
    kmbi_redact_value(&text, cases[i].name, cases[i].given);
    REQUIRE_STR(kmbi_text_get(&text), cases[i].kept);
    kmbi_text_release(&text);
  }
}

static void command_lines_keep_no_secret(void) {
  static const struct {
    const char *given; /* arguments, each ending in '|' */
    const char *kept;
  } cases[] = {
      {"bench|--n|3|", "bench --n 3"},
      {"bench|--token=abc|x|", "bench --token=" HIDDEN " x"},
      {"bench|--token|abc|x|", "bench --token " HIDDEN " x"},
      {"bench|--token|-abc|x|", "bench --token " HIDDEN " x"},
      {"bench|--api-key|--n|3|", "bench --api-key --n 3"},
      {"env|HF_TOKEN=abc|bench|", "env HF_TOKEN=" HIDDEN " bench"},
      {"curl|-H|Authorization: Bearer x|u|",
       "curl -H 'Authorization: " HIDDEN "' u"},
      {"curl|-H|Authorization:|Bearer|x|u|",
       "curl -H Authorization: " HIDDEN " " HIDDEN " u"},
      {"curl|Bearer|x|u|", "curl Bearer " HIDDEN " u"},
      {"git|clone|https://u:p@host/r|", "git clone https://" HIDDEN "@host/r"},
      {"sh|-c|run --password 'a b' c|",
       "sh -c 'run --password '\\''" HIDDEN "'\\'' c'"},
      {"bench||a b|it's|", "bench '' 'a b' 'it'\\''s'"},
      {"bench|--token|", "bench --token"},
      {"curl|--pass|abc|--cookie|s=1|u|",
       "curl --pass " HIDDEN " --cookie " HIDDEN " u"},
      {"bench|--pin|3|--passes|2|", "bench --pin 3 --passes 2"},
      {"bench|--max-tokens|512|--tokenizer|gpt2|",
       "bench --max-tokens 512 --tokenizer gpt2"},
      {"", ""},
  };
  kmbi_memory memory = kmbi_memory_from(NULL);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char arguments[128];
    size_t size = strlen(cases[i].given);
    memcpy(arguments, cases[i].given, size + 1);
    for (size_t k = 0; k < size; k++) {
      if (arguments[k] == '|') arguments[k] = '\0';
    }
    kmbi_text text;
    kmbi_text_init(&text, &memory);
    kmbi_redact_arguments(&text, arguments, size);
    REQUIRE_STR(kmbi_text_get(&text), cases[i].kept);
    kmbi_text_release(&text);
  }
}

static void axes_and_the_name_keep_no_secret(void) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *result = NULL;
  const kmb_pair axes[] = {{"api_key", "leak"},
                           {"url", "https://u:leak@host"},
                           {"pass", "forward"},
                           {"max_tokens", "512"}};
  REQUIRE_OK(kmbi_result_create(&memory, &result));
  kmbi_result_set_axes(result, axes, 4);
  kmbi_result_set_text(result, KMB_VALUE_NAME, "gemm token=leak 4x4");
  REQUIRE_STR(result->axes[0].key, "api_key");
  REQUIRE_STR(result->axes[0].value, HIDDEN);
  REQUIRE_STR(result->axes[1].value, "https://" HIDDEN "@host");
  REQUIRE_STR(result->axes[2].value, "forward");
  REQUIRE_STR(result->axes[3].value, "512");
  REQUIRE_STR(kmbi_result_get_text(result, KMB_VALUE_NAME),
              "gemm token=" HIDDEN " 4x4");
  REQUIRE_OK(kmbi_result_finish(&result));
  kmb_result_destroy(result);
}

/* A device that knows little. */

static kmb_status fake_u64(void *self, kmb_device_attr attr, uint64_t *value) {
  (void)self;
  if (attr != KMB_DEVICE_LLC_BYTES && attr != KMB_DEVICE_NUMA_NODE)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "attribute %d is a mystery",
                     (int)attr);
  *value = attr == KMB_DEVICE_LLC_BYTES ? 1 << 20 : 12345;
  return KMB_OK;
}

static kmb_status fake_f64(void *self, kmb_device_attr attr, double *value) {
  (void)self;
  (void)attr;
  *value = 20.5;
  return KMB_OK;
}

static kmb_status fake_text(void *self, kmb_device_attr attr,
                            const char **text) {
  (void)self;
  if (attr != KMB_DEVICE_NAME)
    return kmbi_fail(KMB_ERR_UNAVAILABLE, "not told");
  *text = "fake";
  return KMB_OK;
}

static kmb_status fake_memory(void *self, uint64_t *bytes) {
  (void)self;
  *bytes = 2000;
  return KMB_OK;
}

static void fake_describe(void *self, kmb_emit_fn emit, void *user) {
  (void)self;
  emit(user, "host.cpu", "some", NULL);
  emit(user, "host.api_key", "leak", NULL);
  emit(user, "host.turbo", NULL, "no such file");
}

static const kmb_backend_ops fake_ops = {
    .struct_size = sizeof(kmb_backend_ops),
    .name = "fake",
    .attr_u64 = fake_u64,
    .attr_f64 = fake_f64,
    .attr_text = fake_text,
    .memory_available = fake_memory,
    .describe = fake_describe,
};

static kmb_device fake_device(const kmb_backend_ops *ops) {
  kmb_device device = {.ops = ops, .spec = "fake:0"};
  device.pid = getpid();
  return device;
}

static kmb_result *new_result(void) {
  kmbi_memory memory = kmbi_memory_from(NULL);
  kmb_result *result = NULL;
  REQUIRE_OK(kmbi_result_create(&memory, &result));
  return result;
}

static const char *value_of(const kmb_result *result, const char *key) {
  const char *text = NULL;
  REQUIRE_OK(kmb_result_metadata_text(result, key, &text));
  return text;
}

static const char *reason_of(const kmb_result *result, const char *key) {
  const char *text = NULL;
  REQUIRE_STATUS(kmb_result_metadata_text(result, key, &text),
                 KMB_ERR_UNAVAILABLE);
  return kmb_last_error(NULL, NULL);
}

static void the_machine_and_the_device_are_recorded(void) {
  kmb_device device = fake_device(&fake_ops);
  kmb_result *result = new_result();
  setenv("OMP_NUM_THREADS", "2", 1);
  setenv("LD_PRELOAD_TOKEN", "leak", 1);
  unsetenv("NCCL_ALGO");
  kmbi_fail(KMB_ERR_BUSY, "before");
  kmbi_metadata_collect(&device, NULL, result);
  REQUIRE_STR(kmb_last_error(NULL, NULL), "before");
  REQUIRE_STR(value_of(result, "kmb.version"), KMB_VERSION);
  REQUIRE_HAS(value_of(result, "host.kernel"), "Linux ");
  REQUIRE_HAS(value_of(result, "process.command_line"), "unit_metadata");
  const char *utc = value_of(result, "time.utc");
  REQUIRE_EQ(strlen(utc), strlen("2026-01-01T00:00:00Z"));
  REQUIRE_EQ(utc[10], 'T');
  REQUIRE_STR(value_of(result, "env.OMP_NUM_THREADS"), "2");
  REQUIRE_HAS(reason_of(result, "env.NCCL_ALGO"), "no metadata entry");
  REQUIRE_STR(value_of(result, "device.backend"), "fake");
  REQUIRE_STR(value_of(result, "device.spec"), "fake:0");
  REQUIRE_STR(value_of(result, "device.name"), "fake");
  REQUIRE_STR(value_of(result, "device.llc_bytes"), "1048576");
  REQUIRE_STR(value_of(result, "device.clock_tick_ns"), "20.5");
  REQUIRE_STR(value_of(result, "device.memory_budget"), "1000");
  REQUIRE_HAS(reason_of(result, "device.units"), "attribute 6 is a mystery");
  REQUIRE_HAS(reason_of(result, "device.uuid"), "not told");
  REQUIRE_STR(value_of(result, "device.thread_on_numa_node"), "no");
  REQUIRE_STR(value_of(result, "host.cpu"), "some");
  REQUIRE_STR(value_of(result, "host.api_key"), HIDDEN);
  REQUIRE_HAS(reason_of(result, "host.turbo"), "no such file");
  REQUIRE_HAS(reason_of(result, "revision.commit"), "did not say");
  REQUIRE_HAS(reason_of(result, "revision.tree"), "did not say");
  for (const kmbi_entry *at = result->metadata; at; at = at->next) {
    REQUIRE(!at->value != !at->reason);
    REQUIRE(!at->value || !strstr(at->value, "leak"));
    REQUIRE(strncmp(at->key, "note.", 5) != 0);
  }
  REQUIRE_OK(kmbi_result_finish(&result));
  kmb_result_destroy(result);
}

static void the_caller_is_recorded_without_secrets(void) {
  kmb_device device = fake_device(&fake_ops);
  kmb_result *result = new_result();
  const kmb_pair pairs[] = {{"blas", "OpenBLAS"},
                            {"wandb_key", "leak"},
                            {"remote", "https://u:leak@host/r"},
                            {"max_tokens", "512"},
                            {"nothing", NULL},
                            {NULL, "nobody"}};
  kmb_metadata_params params = kmb_metadata_params_init();
  params.commit = "abc";
  params.branch = "main";
  params.build = "gcc -DSECRET=leak -O2";
  params.tree = KMB_TREE_DIRTY;
  params.pairs = pairs;
  params.pair_count = 6;
  params.question = "does it hold?";
  params.change = "token=leak";
  params.explanation = "because";
  params.next = "measure again";
  kmbi_metadata_collect(&device, &params, result);
  REQUIRE_STR(value_of(result, "revision.commit"), "abc");
  REQUIRE_STR(value_of(result, "revision.branch"), "main");
  REQUIRE_STR(value_of(result, "revision.tree"), "dirty");
  REQUIRE_STR(value_of(result, "build.caller"), "gcc -DSECRET=" HIDDEN " -O2");
  REQUIRE_STR(value_of(result, "caller.blas"), "OpenBLAS");
  REQUIRE_STR(value_of(result, "caller.wandb_key"), HIDDEN);
  REQUIRE_STR(value_of(result, "caller.remote"), "https://" HIDDEN "@host/r");
  REQUIRE_STR(value_of(result, "caller.max_tokens"), "512");
  REQUIRE_HAS(reason_of(result, "caller.nothing"), "no value");
  REQUIRE_STR(value_of(result, "note.question"), "does it hold?");
  REQUIRE_STR(value_of(result, "note.change"), "token=" HIDDEN);
  REQUIRE_STR(value_of(result, "note.explanation"), "because");
  REQUIRE_HAS(reason_of(result, "note.explanation_artifact"), "a hypothesis");
  REQUIRE_STR(value_of(result, "note.next"), "measure again");
  REQUIRE_HAS(reason_of(result, "note.observation"), "no metadata entry");
  for (const kmbi_entry *at = result->metadata; at; at = at->next)
    REQUIRE(!at->value || !strstr(at->value, "leak"));
  params.explanation_artifact = "sha256:1";
  params.tree = KMB_TREE_CLEAN;
  kmbi_metadata_collect(&device, &params, result);
  REQUIRE_STR(value_of(result, "note.explanation_artifact"), "sha256:1");
  REQUIRE_STR(value_of(result, "revision.tree"), "clean");
  kmb_result_destroy(result);
}

/* An allocator that fails once. */
static struct { long until, calls, live; } faults;

static void *fault_alloc(void *user, size_t size, size_t align) {
  (void)user;
  (void)align;
  if (faults.calls++ == faults.until) return NULL;
  faults.live++;
  return malloc(size);
}

static void fault_free(void *user, void *pointer, size_t size) {
  (void)user;
  (void)size;
  faults.live--;
  free(pointer);
}

static void every_allocation_may_fail(void) {
  const kmbi_memory memory = {fault_alloc, fault_free, NULL};
  kmb_device device = fake_device(&fake_ops);
  kmb_metadata_params params = kmb_metadata_params_init();
  params.commit = "abc";
  params.explanation = "because";
  for (long k = 0;; k++) {
    kmb_result *result = NULL;
    faults.until = k;
    faults.calls = 0;
    kmb_status status = kmbi_result_create(&memory, &result);
    if (!status) {
      kmbi_metadata_collect(&device, &params, result);
      status = kmbi_result_finish(&result);
    }
    kmb_result_destroy(result);
    REQUIRE_EQ(faults.live, 0);
    if (faults.calls <= k) {
      REQUIRE_EQ(status, KMB_OK);
      return;
    }
    REQUIRE_EQ(status, KMB_ERR_NOMEM);
  }
}

int main(void) {
  RUN(names_of_secrets_are_known);
  RUN(harmless_names_are_left_alone);
  RUN(secrets_inside_of_values_are_replaced);
  RUN(command_lines_keep_no_secret);
  RUN(axes_and_the_name_keep_no_secret);
  RUN(the_machine_and_the_device_are_recorded);
  RUN(the_caller_is_recorded_without_secrets);
  RUN(every_allocation_may_fail);
  return 0;
}
