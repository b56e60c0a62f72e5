// SPDX-License-Identifier: MIT
// Environment, log lines, names.
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "log.h"
#include "vk.h"

static const char *const variables[] = {"GGML_ROCKFILL_DEVICE", "GGML_ROCKFILL_MIN_BATCH", "GGML_ROCKFILL_MEMORY",
                                        "GGML_ROCKFILL_PATH", "GGML_ROCKFILL_DEBUG"};

static void variables_clear(void) {
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        unsetenv(variables[i]);
    }
}

static int line_count(const char *text) {
    int lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

// Reads the environment with one variable set; the text on stderr goes to *said.
static struct rf_env read_with(const char *name, const char *value, const char **said) {
    variables_clear();
    if (name != NULL) {
        setenv(name, value, 1);
    }
    struct rf_env env;
    unit_stderr_begin();
    rf_env_read(&env);
    *said = unit_stderr_end();
    return env;
}

static bool is_default(const struct rf_env *env) {
    return env->min_batch == RF_DEFAULT_MIN_BATCH && env->memory == RF_MEMORY_AUTO && env->path == RF_PATH_AUTO &&
           env->copies == RF_COPIES_AUTO && env->debug == 0;
}

static void env_defaults(void) {
    const char *said;
    struct rf_env env = read_with(NULL, NULL, &said);
    UNIT_CHECK(is_default(&env) && env.device == NULL && *said == '\0', "%s", said);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        env = read_with(variables[i], "", &said);
        UNIT_CHECK(is_default(&env) && env.device == NULL && *said == '\0', "%s empty: %s", variables[i], said);
    }
}

static void env_values(void) {
    const char *said;
    struct rf_env env = read_with("GGML_ROCKFILL_DEVICE", "0,mali", &said);
    UNIT_CHECK(env.device != NULL && strcmp(env.device, "0,mali") == 0 && is_default(&env) && *said == '\0');
    env = read_with("GGML_ROCKFILL_MIN_BATCH", "1", &said);
    UNIT_CHECK(env.min_batch == 1 && *said == '\0', "%s", said);
    env = read_with("GGML_ROCKFILL_MIN_BATCH", "2147483647", &said);
    UNIT_CHECK(env.min_batch == INT32_MAX && *said == '\0', "%s", said);
    env = read_with("GGML_ROCKFILL_DEBUG", "1", &said);
    UNIT_CHECK(env.debug == 1 && *said == '\0', "%s", said);
    for (int i = RF_MEMORY_AUTO; i <= RF_MEMORY_MIRRORED; i++) {
        env = read_with("GGML_ROCKFILL_MEMORY", rf_env_memory_name((enum rf_memory_mode)i), &said);
        UNIT_CHECK(env.memory == (enum rf_memory_mode)i && *said == '\0', "%d: %s", i, said);
    }
    env = read_with("GGML_ROCKFILL_MEMORY", "once", &said);
    UNIT_CHECK(env.memory == RF_MEMORY_AUTO && env.copies == RF_COPIES_ONCE && *said == '\0', "%s", said);
    env = read_with("GGML_ROCKFILL_MEMORY", "mirrored,twice", &said);
    UNIT_CHECK(env.memory == RF_MEMORY_MIRRORED && env.copies == RF_COPIES_TWICE && *said == '\0', "%s", said);
    for (int i = RF_PATH_INT8; i <= RF_PATH_AUTO; i++) {
        env = read_with("GGML_ROCKFILL_PATH", rf_env_path_name((enum rf_path)i), &said);
        UNIT_CHECK(env.path == (enum rf_path)i && *said == '\0', "%d: %s", i, said);
    }
}

// Each value is named in one line and changes nothing.
static void env_garbage(void) {
    static const char *const numbers[] = {"x",
                                          "1x",
                                          "0x20",
                                          "1e3",
                                          "-1",
                                          "1.5",
                                          "1 ",
                                          "--1",
                                          ",",
                                          "\xff",
                                          "32 64",
                                          "99999999999999999999",
                                          "999999999999999999999999999999999999999999999999999999999999999999999999"};
    static const char *const words[] = {"x",         "INT8",   "shared,", "once,,twice", "mirrored,thrice",
                                        ",once",     "Shared", "int8 ",   " fp16",       "fp",
                                        "auto,int8", "0",      "%s%n",    "\n"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *name = variables[i];
        bool takes_words = strstr(name, "MEMORY") != NULL || strstr(name, "PATH") != NULL;
        size_t count = takes_words ? sizeof words / sizeof words[0] : sizeof numbers / sizeof numbers[0];
        for (size_t j = 0; j < count && strstr(name, "DEVICE") == NULL; j++) {
            const char *value = takes_words ? words[j] : numbers[j], *said;
            struct rf_env env = read_with(name, value, &said);
            UNIT_CHECK(is_default(&env), "%s=%s", name, value);
            UNIT_CHECK(line_count(said) == 1 + (*value == '\n') && strstr(said, name) != NULL, "%s=%s: \"%s\"", name,
                       value, said);
        }
    }
    const char *said;
    struct rf_env env = read_with("GGML_ROCKFILL_MIN_BATCH", "0", &said);
    UNIT_CHECK(is_default(&env) && line_count(said) == 1, "%s", said);
    env = read_with("GGML_ROCKFILL_MIN_BATCH", "2147483648", &said);
    UNIT_CHECK(is_default(&env) && line_count(said) == 1, "%s", said);
    env = read_with("GGML_ROCKFILL_DEBUG", "3", &said);
    UNIT_CHECK(is_default(&env) && line_count(said) == 1, "%s", said);
    variables_clear();
}

static void env_numbers(void) {
    static const struct {
        const char *text;
        int64_t min, max, value;
        bool valid;
    } rows[] = {
        {"0", 0, 1, 0, true},
        {"1", 0, 1, 1, true},
        {"2", 0, 1, 0, false},
        {"-1", 0, 1, 0, false},
        {"-5", -5, 5, -5, true},
        {"-6", -5, 5, 0, false},
        {"9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX, true},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN, true},
        {"9223372036854775808", INT64_MIN, INT64_MAX, 0, false},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, 0, false},
        {"", 0, 9, 0, false},
        {" ", 0, 9, 0, false},
        {"3 ", 0, 9, 0, false},
        {"3,", 0, 9, 0, false},
        {"0x3", 0, 9, 0, false},
        {"three", 0, 9, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t value = 42;
        bool valid = rf_env_parse_int(rows[i].text, rows[i].min, rows[i].max, &value);
        UNIT_CHECK(valid == rows[i].valid, "\"%s\"", rows[i].text);
        UNIT_CHECK(value == (rows[i].valid ? rows[i].value : 42), "\"%s\": %lld", rows[i].text, (long long)value);
    }
}

static void log_lines(void) {
    char text[2000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    unit_stderr_begin();
    rf_log(RF_LOG_ERROR, "%s", text);
    rf_log(RF_LOG_INFO, "hidden");
    rf_log_set_verbose(1);
    rf_log(RF_LOG_INFO, "shown %d", 7);
    rf_log_set_verbose(0);
    rf_log(RF_LOG_INFO, "hidden");
    const char *said = unit_stderr_end();
    UNIT_CHECK(line_count(said) == 2, "%s", said);
    UNIT_CHECK(strncmp(said, "rockfill: aaa", 13) == 0, "%s", said);
    UNIT_CHECK(strstr(said, "rockfill: shown 7\n") != NULL && strstr(said, "hidden") == NULL, "%s", said);
}

static void result_names(void) {
    UNIT_CHECK(strcmp(rf_vk_result_name(VK_SUCCESS), "VK_SUCCESS") == 0);
    UNIT_CHECK(strcmp(rf_vk_result_name(VK_TIMEOUT), "VK_TIMEOUT") == 0);
    UNIT_CHECK(strcmp(rf_vk_result_name(VK_ERROR_DEVICE_LOST), "VK_ERROR_DEVICE_LOST") == 0);
    UNIT_CHECK(strcmp(rf_vk_result_name(VK_ERROR_OUT_OF_DEVICE_MEMORY), "VK_ERROR_OUT_OF_DEVICE_MEMORY") == 0);
    UNIT_CHECK(strcmp(rf_vk_result_name(VK_ERROR_UNKNOWN), "VK_ERROR_UNKNOWN") == 0);
    UNIT_CHECK(strcmp(rf_vk_result_name((VkResult)12345), "unknown VkResult") == 0);
    UNIT_CHECK(strcmp(rf_vk_result_name((VkResult)-12345), "unknown VkResult") == 0);
}

const struct unit_test unit_env_tests[] = {
    {"env-defaults", env_defaults},
    {"env-values", env_values},
    {"env-garbage", env_garbage},
    {"env-numbers", env_numbers},
    {"log-lines", log_lines},
    {"vk-result-names", result_names},
    {NULL, NULL},
};
