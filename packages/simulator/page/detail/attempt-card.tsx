import { CodeBlock, CopyButton, HeaderList, Tag, Time, duration } from '@call-webhooks/ui';
import type {
  Attempt,
  AttemptResponse,
  WebhookEventView,
} from '@call-webhooks/simulator/control-api';
import { useState } from 'preact/hooks';
import { attemptTone, CHAOS, PAUSE_REASONS, responseText } from '../state/labels.ts';

/** `Attempt 2`, `Replay of attempt 1`. */
const attemptName = ({ kind, number }: Pick<Attempt, 'kind' | 'number'>): string =>
  `${kind === 'replay' ? 'Replay of attempt' : 'Attempt'} ${String(number)}`;

interface CardProps {
  readonly attempt: WebhookEventView['attempts'][number];
  /** Whether it is unfolded when it appears. Later, that is up to the user. */
  readonly opens: boolean;
}

/** One attempt, which unfolds to its request and its response. */
export function AttemptCard({ attempt, opens }: CardProps) {
  const [open] = useState(opens);
  const { outcome, tookMs, chaos, startedAt, response, droppedResponse } = attempt;
  return (
    <li class="attempt" data-tone={attemptTone(attempt)}>
      <details open={open}>
        <summary>
          <span class="attempt-name">{attemptName(attempt)}</span>
          <span class="answer" data-tone={attemptTone(attempt)}>
            {responseText(attempt)}
          </span>
          {outcome && <span class="outcome">{outcome}</span>}
          <span class="took">{tookMs === undefined ? '' : duration(tookMs)}</span>
          {chaos.map((mode) => (
            <Tag key={mode} title={CHAOS[mode][1]}>
              {CHAOS[mode][0]}
            </Tag>
          ))}
          <Time at={startedAt} class="when" />
        </summary>
        <div class="attempt-body">
          <p class="result-text">{resultText(attempt)}</p>
          <RequestPart request={attempt.request} />
          {response && <ResponsePart name="Response" response={response} />}
          {droppedResponse && <ResponsePart name="Dropped response" response={droppedResponse} />}
        </div>
      </details>
    </li>
  );
}

function resultText({ kind, response, result, droppedResponse }: Attempt): string {
  if (kind === 'replay')
    return 'The same request was sent again, as an attacker would do. Its response changes nothing.';
  if (!response || !result) return 'The receiver is handling the request.';
  if (result.next === 'acknowledged')
    return 'Any 2xx in time acknowledges the event. The service ignores the response body.';
  const lost = droppedResponse ? ' The receiver did its work, but chaos dropped the response.' : '';
  if (result.next === 'retry')
    return `The service retries: ${RETRY_REASONS[result.reason]}.${lost}`;
  return `The rule was paused: ${PAUSE_REASONS[result.reason]}.${lost}`;
}

const RETRY_REASONS = {
  status: 'the status was neither 2xx nor 404',
  timeout: 'there was no response in time',
  'connection-error': 'the connection failed',
} as const;

const RequestPart = ({ request }: Pick<Attempt, 'request'>) => (
  <section class="exchange" aria-label="Request">
    <div class="exchange-head">
      <h3>Request</h3>
      <CopyButton what="Curl command" icon="terminal" text={() => curlCommand(request)} />
    </div>
    <p class="line">
      <strong>POST</strong> {request.url}
    </p>
    <HeaderList label="Request headers" headers={request.headers} />
    <CodeBlock label="Request body" text={request.body} />
  </section>
);

interface ResponseProps {
  readonly name: string;
  readonly response: AttemptResponse;
}

const ResponsePart = ({ name, response }: ResponseProps) => (
  <section class="exchange" aria-label={name}>
    <div class="exchange-head">
      <h3>{name}</h3>
    </div>
    <ResponseContent response={response} />
  </section>
);

function ResponseContent({ response }: Pick<ResponseProps, 'response'>) {
  if (response.kind === 'timeout') return <p class="line">No response in time.</p>;
  if (response.kind === 'connection-error')
    return <p class="line">{`Connection error: ${response.code}`}</p>;
  const { status, headers, body, truncated } = response;
  return (
    <>
      <p class="line">
        <strong>{status}</strong>
      </p>
      <HeaderList label="Response headers" headers={headers} />
      {body === '' ? (
        <p class="hint">No body.</p>
      ) : (
        <CodeBlock label={truncated ? 'Response body (truncated)' : 'Response body'} text={body} />
      )}
    </>
  );
}

/** The same request as a shell command. Its signature is valid for five minutes. */
function curlCommand({ url, headers, body }: Attempt['request']): string {
  const lines = [`curl -i ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers))
    if (!/^content-length$/i.test(name)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  return [...lines, `--data-raw ${quoted(body)}`].join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
