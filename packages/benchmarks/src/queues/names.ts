/** The job engines, as the tables name them. */
export const QUEUES = { bullmq: 'BullMQ', 'pg-boss': 'pg-boss', sqlite: 'SQLite' } as const;
export type QueueName = keyof typeof QUEUES;

/** Handing deliveries to a queue, and running its jobs: time each, and CPU time of the process. */
export const QUEUES_PARTS = ['queues', 'queuesCpu', 'workers', 'workersCpu'] as const;
export type QueuesPart = (typeof QUEUES_PARTS)[number];
