import { ActionButton, CopyButton, notify, openForm } from '@call-webhooks/ui';
import type { SecretsView } from '@call-webhooks/simulator/control-api';
import { useState } from 'preact/hooks';
import { callApi } from '../state/api.ts';

const HIDDEN = 'whsec_••••••••••••';

interface SecretProps {
  readonly ruleId: string;
  readonly actionId: string;
}

/**
 * The signing secret of an action. The page fetches it only when the user shows or copies it, and
 * hides it again after a rotation.
 */
export function Secret({ ruleId, actionId }: SecretProps) {
  const [shown, show] = useState<string>();
  const rotate = () =>
    openForm({
      title: 'Rotate the secret?',
      go: 'Rotate',
      danger: true,
      content: (
        <p>
          The next delivery is signed with a new secret. The receiver rejects it until it has that
          secret.
        </p>
      ),
      async run() {
        await callApi('POST', `/rules/${ruleId}/actions/${actionId}/rotate`);
        show(undefined);
        notify('Rotated. The next delivery is signed with the new secret.');
      },
    });
  return (
    <div class="secret-row">
      <span class="visually-hidden">Signing secret</span>
      <code class="secret">{shown ?? HIDDEN}</code>
      <span class="tools">
        <ActionButton
          label={shown === undefined ? 'Show the secret' : 'Hide the secret'}
          icon={shown === undefined ? 'eye' : 'minus'}
          iconOnly
          kind="ghost"
          small
          run={async () => {
            show(shown === undefined ? await secretOf(actionId) : undefined);
          }}
        />
        <CopyButton what="Secret" text={() => secretOf(actionId)} />
        <ActionButton
          label="Rotate the secret"
          title="Rotate: the next delivery is signed with a new secret"
          icon="rotate"
          iconOnly
          kind="ghost"
          small
          run={rotate}
        />
      </span>
    </div>
  );
}

async function secretOf(actionId: string): Promise<string> {
  const secrets = await callApi<SecretsView>('GET', '/secrets');
  return secrets[actionId]?.current ?? '';
}
