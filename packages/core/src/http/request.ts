import { WebhookError } from '../outcome/webhook-error.ts';
import { headerValue, type HeadersLike } from './headers.ts';

/**
 * Refuses what is no delivery before its body is read.
 * @throws WebhookError `method-not-allowed`, `unsupported-encoding`
 */
export function checkRequest({
  method,
  headers,
}: {
  method?: string | undefined;
  headers: HeadersLike;
}): void {
  if (method !== undefined && method !== 'POST') {
    throw new WebhookError('method-not-allowed', 'Deliveries are sent with POST.');
  }
  const encoding = headerValue(headers, 'content-encoding');
  if (
    encoding !== undefined &&
    encoding !== null &&
    encoding !== '' &&
    String(encoding).toLowerCase() !== 'identity'
  ) {
    throw new WebhookError(
      'unsupported-encoding',
      'The body is compressed. The service sends plain bodies.',
    );
  }
}
