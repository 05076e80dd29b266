/** What a delivery takes under load, what it costs this process, and what it takes when it is alone. */
export const STORES_PARTS = ['stores', 'storesCpu', 'storesAlone'] as const;
export type StoresPart = (typeof STORES_PARTS)[number];

/** The column of the CPU time that a delivery with Redis may cost. */
export const REDIS_BAR = 'memory + 1.3 × redis floor';
