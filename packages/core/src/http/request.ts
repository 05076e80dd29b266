import { WebhookError } from '../outcome/webhook-error.ts';
import { tooLarge } from './body.ts';
import { headerValue, type HeadersLike } from './headers.ts';

/**
 * Refuses what is no delivery before its body is read.
 * @param bodyLimit bytes
 * @throws WebhookError `method-not-allowed`, `unsupported-encoding`, `body-too-large`
 */
export function checkRequest(
  { method, headers }: { method?: string | undefined; headers: HeadersLike },
  bodyLimit: number,
): void {
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
  // HTTP parsers have checked the number; without the header it is NaN, which is no larger.
  if (Number(headerValue(headers, 'content-length')) > bodyLimit) throw tooLarge(bodyLimit);
}
