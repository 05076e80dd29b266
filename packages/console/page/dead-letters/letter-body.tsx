import { ActionButton, CodeBlock } from '@call-webhooks/ui';
import type { DeadLetterBody, DeadLetterDetail } from '../../src/api-types.ts';
import { post } from '../model/api.ts';
import { count } from '../model/format.ts';
import { useSession } from '../model/session.ts';

interface BodyProps {
  readonly body: DeadLetterBody;
  readonly path: string;
  readonly onReveal: (letter: DeadLetterDetail | undefined) => void;
}

/** The body of a letter. Personal data is masked until somebody asks for it. */
export function LetterBody({ body, path, onReveal }: BodyProps) {
  const { canWrite } = useSession();
  return (
    <div class="letter-body">
      {body.text === null ? (
        <p class="hint">
          The body has {count(body.bytes)} bytes and is not JSON, so it cannot be masked and is not
          shown.
        </p>
      ) : (
        <CodeBlock label="Body" text={body.text} />
      )}
      {body.truncated && <p class="hint">Cut: the body has {count(body.bytes)} bytes.</p>}
      {body.masked && canWrite && (
        <p>
          <ActionButton
            label="Show personal data"
            icon="eye"
            small
            run={async () => {
              onReveal(await post<DeadLetterDetail>(`${path}/reveal`));
            }}
          />{' '}
          <span class="hint">The receiver logs who asked for it.</span>
        </p>
      )}
      {body.masked && !canWrite && <p class="hint">Personal data is masked.</p>}
      {!body.masked && (
        <p>
          <ActionButton
            label="Hide personal data"
            icon="eye"
            small
            run={() => {
              onReveal(undefined);
            }}
          />
        </p>
      )}
    </div>
  );
}
