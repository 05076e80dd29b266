import { Button, moment } from '@call-webhooks/ui';
import { lastAnswer, useConnection } from '../model/connection.ts';
import { clockTime } from '../model/format.ts';

/** Says what is wrong while the receiver does not answer, and what to do. */
export function ConnectionBanner() {
  const { state } = useConnection();
  return (
    <div role="alert">
      {state === 'lost' && <Lost />}
      {state === 'signed-out' && (
        <div class="banner">
          <p>
            Your authorisation ran out, or was taken back. What you see is old. Reload the page to
            sign in again.
          </p>
          <Button label="Reload" onClick={() => location.reload()} />
        </div>
      )}
    </div>
  );
}

function Lost() {
  const at = lastAnswer();
  return (
    <div class="banner">
      <p>
        {navigator.onLine
          ? 'The receiver does not answer: it is restarting or stopped, or the network between is down.'
          : 'This computer is offline.'}{' '}
        {at !== undefined && (
          <>
            What you see is from <span title={moment(at)}>{clockTime(at)}</span>.
          </>
        )}{' '}
        The page tries again by itself.
      </p>
    </div>
  );
}
