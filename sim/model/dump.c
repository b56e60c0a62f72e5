// SPDX-License-Identifier: MIT
// sm-dump: compiles one SPIR-V kernel with the Vulkan driver that is there and prints the driver's statistics and its
// final assembly, which sim-model reads. Built for arm64, it runs in the simulated Mali's userland; the compiler is the
// stock one, so nothing needs to execute.
//
// usage: sm-dump [--spec ID=VALUE]... [--bindings N] [--push BYTES] [--empty] KERNEL.spv
//
// --empty also dispatches it, over an empty grid: mali-exec (PANTHOR_SIM_EXEC) then has its code, and mali-exec's
// report with --count the hash by which it is known.
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define SPEC_MAX 16
#define BINDINGS_MAX 16
#define STATISTICS_MAX 64
#define TEXTS_MAX 16

struct options {
    const char *path;
    VkSpecializationMapEntry map[SPEC_MAX];
    uint32_t spec[SPEC_MAX];
    uint32_t spec_count, bindings, push_bytes;
    bool empty;
};

struct kernel {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;
    VkShaderModule module;
    VkPipeline pipeline;
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet descriptors;
    VkCommandPool command_pool;
};

static bool failed(const char *what, VkResult result) {
    if (result < 0)
        fprintf(stderr, "sm-dump: %s: VkResult %d\n", what, result);
    return result < 0;
}

static bool parse_number(const char *text, uint32_t most, uint32_t *value) {
    char *end;
    errno = 0;
    unsigned long parsed = strtoul(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || parsed > most)
        return false;
    *value = (uint32_t)parsed;
    return true;
}

static bool parse_spec(const char *text, struct options *options) {
    char id[16];
    const char *equals = strchr(text, '=');
    uint32_t n = options->spec_count;
    if (equals == NULL || (size_t)(equals - text) >= sizeof id || n == SPEC_MAX)
        return false;
    snprintf(id, sizeof id, "%.*s", (int)(equals - text), text);
    options->map[n].offset = n * 4;
    options->map[n].size = 4;
    options->spec_count++;
    return parse_number(id, UINT32_MAX, &options->map[n].constantID) &&
           parse_number(equals + 1, UINT32_MAX, &options->spec[n]);
}

static bool parse(int argc, char **argv, struct options *options) {
    *options = (struct options){.bindings = 6, .push_bytes = 64};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool good = true, takes_value = argv[i][0] == '-' && strcmp(argv[i], "--empty") != 0;
        if (strcmp(argv[i], "--spec") == 0)
            good = parse_spec(value, options);
        else if (strcmp(argv[i], "--bindings") == 0)
            good = parse_number(value, BINDINGS_MAX, &options->bindings);
        else if (strcmp(argv[i], "--push") == 0)
            good = parse_number(value, 256, &options->push_bytes);
        else if (strcmp(argv[i], "--empty") == 0)
            options->empty = true;
        else if (takes_value || options->path != NULL)
            good = false;
        else
            options->path = argv[i];
        if (!good) {
            fprintf(stderr, "sm-dump: cannot take %s %s\n", argv[i], takes_value ? value : "");
            return false;
        }
        i += takes_value;
    }
    if (options->path == NULL)
        fprintf(stderr, "usage: sm-dump [--spec ID=VALUE]... [--bindings N] [--push BYTES] [--empty] KERNEL.spv\n");
    return options->path != NULL;
}

static uint32_t *read_words(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "sm-dump: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    uint32_t *words = NULL;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    rewind(file);
    if (size > 0 && size % 4 == 0)
        words = malloc((size_t)size);
    if (words != NULL && (fread(words, 1, (size_t)size, file) != (size_t)size || words[0] != 0x07230203)) {
        free(words);
        words = NULL;
    }
    fclose(file);
    if (words == NULL)
        fprintf(stderr, "sm-dump: %s is no SPIR-V file\n", path);
    *bytes = (size_t)size;
    return words;
}

static bool create_instance(struct kernel *kernel) {
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    if (failed("creating an instance", vkCreateInstance(&info, NULL, &kernel->instance)))
        return false;
    uint32_t count = 1;
    if (failed("listing devices", vkEnumeratePhysicalDevices(kernel->instance, &count, &kernel->physical)))
        return false;
    if (count == 0)
        fprintf(stderr, "sm-dump: no Vulkan device\n");
    return count != 0;
}

// Every feature that the driver has, except robust buffer access: rockfill and llama.cpp's kernels go without it.
static bool create_device(struct kernel *kernel) {
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
    VkPhysicalDeviceVulkan13Features v13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                            .pNext = &executable};
    VkPhysicalDeviceVulkan12Features v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                            .pNext = &v13};
    VkPhysicalDeviceVulkan11Features v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                            .pNext = &v12};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v11};
    vkGetPhysicalDeviceFeatures2(kernel->physical, &features);
    if (!executable.pipelineExecutableInfo) {
        fprintf(stderr, "sm-dump: the driver does not tell its assembly (VK_KHR_pipeline_executable_properties)\n");
        return false;
    }
    features.features.robustBufferAccess = VK_FALSE;
    float priority = 1;
    const char *extensions[] = {"VK_KHR_pipeline_executable_properties"};
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = 1,
                               .ppEnabledExtensionNames = extensions};
    return !failed("creating a device", vkCreateDevice(kernel->physical, &info, NULL, &kernel->device));
}

static bool create_layout(struct kernel *kernel, const struct options *options) {
    VkDescriptorSetLayoutBinding bindings[BINDINGS_MAX];
    for (uint32_t i = 0; i < options->bindings; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                     .descriptorCount = 1,
                                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = options->bindings,
                                           .pBindings = bindings};
    if (failed("creating a set layout", vkCreateDescriptorSetLayout(kernel->device, &set, NULL, &kernel->set)))
        return false;
    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = options->push_bytes};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &kernel->set,
                                       .pushConstantRangeCount = options->push_bytes > 0,
                                       .pPushConstantRanges = &push};
    return !failed("creating a layout", vkCreatePipelineLayout(kernel->device, &info, NULL, &kernel->layout));
}

static bool compile(struct kernel *kernel, const struct options *options, const uint32_t *words, size_t bytes) {
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
    if (failed("creating a module", vkCreateShaderModule(kernel->device, &module, NULL, &kernel->module)))
        return false;
    VkSpecializationInfo spec = {.mapEntryCount = options->spec_count,
                                 .pMapEntries = options->map,
                                 .dataSize = sizeof options->spec,
                                 .pData = options->spec};
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                                                 VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = kernel->module,
                                                  .pName = "main",
                                                  .pSpecializationInfo = &spec},
                                        .layout = kernel->layout};
    return !failed("compiling",
                   vkCreateComputePipelines(kernel->device, VK_NULL_HANDLE, 1, &info, NULL, &kernel->pipeline));
}

static void print_statistic(const VkPipelineExecutableStatisticKHR *statistic) {
    if (statistic->format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR)
        printf("  %s %g\n", statistic->name, statistic->value.f64);
    else
        printf("  %s %" PRIu64 "\n", statistic->name, statistic->value.u64);
}

static bool print_statistics(VkDevice device, const VkPipelineExecutableInfoKHR *info) {
    PFN_vkGetPipelineExecutableStatisticsKHR get =
        (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR");
    VkPipelineExecutableStatisticKHR statistics[STATISTICS_MAX];
    uint32_t count = STATISTICS_MAX;
    for (uint32_t i = 0; i < count; i++)
        statistics[i] =
            (VkPipelineExecutableStatisticKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    if (failed("reading statistics", get(device, info, &count, statistics)))
        return false;
    for (uint32_t i = 0; i < count; i++)
        print_statistic(&statistics[i]);
    return true;
}

static bool print_texts(VkDevice device, const VkPipelineExecutableInfoKHR *info) {
    PFN_vkGetPipelineExecutableInternalRepresentationsKHR get =
        (PFN_vkGetPipelineExecutableInternalRepresentationsKHR)vkGetDeviceProcAddr(
            device, "vkGetPipelineExecutableInternalRepresentationsKHR");
    VkPipelineExecutableInternalRepresentationKHR texts[TEXTS_MAX];
    uint32_t count = TEXTS_MAX;
    for (uint32_t i = 0; i < count; i++)
        texts[i] = (VkPipelineExecutableInternalRepresentationKHR){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR};
    bool good = !failed("measuring the assembly", get(device, info, &count, texts));
    for (uint32_t i = 0; good && i < count; i++)
        texts[i].pData = calloc(1, texts[i].dataSize + 1);
    good = good && !failed("reading the assembly", get(device, info, &count, texts));
    for (uint32_t i = 0; good && i < count; i++) {
        if (strcmp(texts[i].name, "Assembly") == 0 && texts[i].pData != NULL)
            printf("---- Assembly\n%s\n", (const char *)texts[i].pData);
        free(texts[i].pData);
    }
    return good;
}

// One executable: a compute pipeline has no other.
static bool print(struct kernel *kernel) {
    VkPipelineExecutableInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                        .pipeline = kernel->pipeline};
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(kernel->physical, &properties);
    printf("device %s, driver %u\n", properties.deviceName, properties.driverVersion);
    return print_statistics(kernel->device, &info) && print_texts(kernel->device, &info);
}

static void record_empty(const struct kernel *kernel, const struct options *options, VkCommandBuffer commands) {
    static const uint32_t zeros[64];
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0, 1, &kernel->descriptors, 0,
                            NULL);
    if (options->push_bytes > 0)
        vkCmdPushConstants(commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, options->push_bytes, zeros);
    vkCmdDispatch(commands, 0, 1, 1);
}

static bool create_descriptors(struct kernel *kernel, const struct options *options) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, options->bindings > 0 ? options->bindings : 1};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    if (failed("creating a descriptor pool",
               vkCreateDescriptorPool(kernel->device, &pool, NULL, &kernel->descriptor_pool)))
        return false;
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = kernel->descriptor_pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &kernel->set};
    return !failed("allocating descriptors", vkAllocateDescriptorSets(kernel->device, &info, &kernel->descriptors));
}

static bool dispatch_empty(struct kernel *kernel, const struct options *options) {
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    if (!create_descriptors(kernel, options) ||
        failed("creating a command pool", vkCreateCommandPool(kernel->device, &pool, NULL, &kernel->command_pool)))
        return false;
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = kernel->command_pool,
                                        .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands;
    VkQueue queue;
    if (failed("allocating commands", vkAllocateCommandBuffers(kernel->device, &info, &commands)) ||
        failed("recording", vkBeginCommandBuffer(commands, &begin)))
        return false;
    record_empty(kernel, options, commands);
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    vkGetDeviceQueue(kernel->device, 0, 0, &queue);
    return !failed("recording", vkEndCommandBuffer(commands)) &&
           !failed("submitting", vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE)) &&
           !failed("waiting", vkQueueWaitIdle(queue));
}

static void destroy(struct kernel *kernel) {
    if (kernel->device != VK_NULL_HANDLE) {
        vkDestroyCommandPool(kernel->device, kernel->command_pool, NULL);
        vkDestroyDescriptorPool(kernel->device, kernel->descriptor_pool, NULL);
        vkDestroyPipeline(kernel->device, kernel->pipeline, NULL);
        vkDestroyShaderModule(kernel->device, kernel->module, NULL);
        vkDestroyPipelineLayout(kernel->device, kernel->layout, NULL);
        vkDestroyDescriptorSetLayout(kernel->device, kernel->set, NULL);
        vkDestroyDevice(kernel->device, NULL);
    }
    if (kernel->instance != VK_NULL_HANDLE)
        vkDestroyInstance(kernel->instance, NULL);
}

int main(int argc, char **argv) {
    struct options options;
    if (!parse(argc, argv, &options))
        return 2;
    size_t bytes;
    uint32_t *words = read_words(options.path, &bytes);
    if (words == NULL)
        return 1;
    struct kernel kernel = {0};
    bool good = create_instance(&kernel) && create_device(&kernel) && create_layout(&kernel, &options) &&
                compile(&kernel, &options, words, bytes) && print(&kernel) &&
                (!options.empty || dispatch_empty(&kernel, &options));
    destroy(&kernel);
    free(words);
    return good ? 0 : 1;
}
