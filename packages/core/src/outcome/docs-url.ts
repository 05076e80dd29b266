const REPOSITORY = 'https://github.com/call-webhooks/call-webhooks';

/**
 * The absolute URL of a page of the documentation, for log lines and errors: the pages are not part
 * of the published packages.
 * @param page a path below `docs/`, with an anchor if need be
 * @example docsUrl('outcomes.md#handler-failed')
 */
export const docsUrl = (page: string): string => `${REPOSITORY}/blob/main/docs/${page}`;
