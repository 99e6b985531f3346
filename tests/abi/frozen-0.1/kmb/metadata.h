/**
 * @file metadata.h
 * What was measured on: collected outside the timed region, kept in the
 * result, with secrets removed.
 */
#ifndef KMB_METADATA_H
#define KMB_METADATA_H

#include <kmb/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup metadata Metadata
 *  Entries have dotted keys, such as "host.cpu", "device.llc_bytes",
 *  "telemetry.before.core0_mhz". What could not be read is an entry without a
 *  value and with a reason.
 *
 *  A metadata value or an axis's value is replaced by "[redacted]" if its key,
 *  its variable or its command-line option looks like a secret. Upper and lower
 *  case are the same, and a name is split into words at `_`, `-`, `.` and where
 *  camelCase starts another. It looks like a secret if
 *  - a word contains SECRET, PASSWORD, PASSWD, PASSPHRASE, PASSCODE,
 *    CREDENTIAL or AUTHORIZATION, ends in PWD, or is AUTH, BEARER, COOKIE,
 *    COOKIES, KEYS, SESSIONID, SESSID or PHPSESSID;
 *  - it is SESSION followed by ID;
 *  - a word is PASS and another goes before ("DB_PASS"; not "forward_pass",
 *    "backward_pass", "fwd_pass", "bwd_pass", "num_pass"), or the option is
 *    `--pass`; the axis or key "pass" alone is kept;
 *  - a word ends in KEY or TOKEN ("API_KEY", "apikey", "hfToken"), unless it is
 *    an English word such as "monkey", or a word for a size follows
 *    ("key_dim", "num_key_value_heads") and none of API, AUTH, ACCESS,
 *    REFRESH, SESSION or PRIVATE goes before;
 *  - a word is TOKENS and one of those goes before ("auth_tokens"; "max_tokens"
 *    is a count).
 *
 *  A word for a size behind AUTH, COOKIE, KEYS, PASS or the like makes it no
 *  secret ("cookie_count", "pass_limit").
 *
 *  Within metadata, arguments, axes' values and the result's name the same
 *  holds for `NAME=value` (`pass=value` too), `NAME: value` (a header: to the
 *  end of the line), `--name value`, and a word after "Bearer"; user and
 *  password in a URL, and a private key in PEM ("-----BEGIN ... PRIVATE
 *  KEY-----" to its end), are replaced as well.
 *
 *  A secret that goes by no such name is not recognised, among them: `-u
 *  user:password`, `-p value`, "PIN" and "session" (words of this trade too),
 *  and names in one word such as "dbpass".
 *  @{ */

typedef int32_t kmb_tree_state;
enum { KMB_TREE_UNKNOWN = 0, KMB_TREE_CLEAN = 1, KMB_TREE_DIRTY = 2 };

/** What the caller knows and the library cannot find out. All strings are
 *  copied and may be NULL. */
typedef struct kmb_metadata_params {
  size_t struct_size;
  const char *commit; /**< revision of the measured code */
  const char *branch;
  const char *build; /**< compiler, flags */
  /** Pairs of the caller, such as the BLAS library's core name; stored under
   *  "caller.KEY". */
  const kmb_pair *pairs;
  uint64_t pair_count;
  /** A note that goes with the result, for later readers. An explanation
   *  without the hash of an artifact that backs it is stored as a
   *  hypothesis. */
  const char *question;
  const char *change;
  const char *correctness;
  const char *observation;
  const char *explanation;
  const char *explanation_artifact; /**< hash of the artifact, or NULL */
  const char *next;
  kmb_tree_state tree;
  uint32_t flags; /**< must be 0 */
} kmb_metadata_params;

static inline kmb_metadata_params kmb_metadata_params_init(void) {
  kmb_metadata_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  return params;
}

/** One entry; strings belong to the result. */
typedef struct kmb_metadata_entry {
  size_t struct_size;
  const char *key;
  const char *value;  /**< as text; NULL if absent */
  const char *reason; /**< why it is absent; NULL if it is not */
} kmb_metadata_entry;

static inline kmb_metadata_entry kmb_metadata_entry_init(void) {
  kmb_metadata_entry entry;
  memset(&entry, 0, sizeof entry);
  entry.struct_size = sizeof entry;
  return entry;
}

/** Number of metadata entries of a result.
 *  @param result  a result or NULL
 *  @return how many kmb_result_metadata() can give; 0 for NULL
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API uint64_t kmb_result_metadata_count(const kmb_result *result);

/** One metadata entry.
 *  @param result      a result
 *  @param index       below kmb_result_metadata_count()
 *  @param[out] entry  written up to its `struct_size`
 *  @retval KMB_ERR_INVALID  NULL, or no such entry
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_result_metadata(const kmb_result *result, uint64_t index,
                                       kmb_metadata_entry *entry);

/** The value of a metadata key.
 *  @param result     a result
 *  @param key        such as "host.cpu"
 *  @param[out] text  owned by the result
 *  @retval KMB_ERR_INVALID      NULL
 *  @retval KMB_ERR_UNAVAILABLE  no such entry, or one without a value; the
 *                               reason is in kmb_last_error()
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @since 0.1 */
KMB_API kmb_status kmb_result_metadata_text(const kmb_result *result,
                                            const char *key, const char **text);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
