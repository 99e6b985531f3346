/* CUPTI's buffers: small, recycled, and read on a thread of ours. */
#ifndef KMB_BACKENDS_CUDA_RECORDS_H
#define KMB_BACKENDS_CUDA_RECORDS_H

#include "cupti_session.h"

/* CUPTI calls these, from whatever thread. */
void kmbi_cupti_buffer_request(uint8_t **buffer, size_t *size, size_t *records);
void kmbi_cupti_buffer_complete(kmbi_cu_context context, uint32_t stream,
                                uint8_t *buffer, size_t size, size_t valid);
/* Hands the records of full buffers to the clients that they belong to. */
void kmbi_cupti_buffers_read(const kmbi_cupti_api *api,
                             kmbi_cupti_client *clients);
void kmbi_cupti_buffers_drop(void);
/* From now on buffers are read into this recorder as they come; NULL: they are
 * kept for the clients. Nobody uses the one before any more. */
void kmbi_cupti_buffers_record(kmbi_cupti_recorder *recorder);
/* recorder.c: keeps what a record says. */
void kmbi_cupti_recorder_take(kmbi_cupti_recorder *recorder,
                              const void *record) KMBI_CUDA_WEAK;

#endif
