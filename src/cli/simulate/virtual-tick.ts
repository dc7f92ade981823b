import type { VirtualClock } from '../../lib/virtual-clock.ts';
import type { StartTick } from '../../schedule/timer.ts';

const minuteMs = 60_000;

/** A timer tick that runs on a virtual clock. */
export function virtualTick(clock: VirtualClock): StartTick {
  return (look) => {
    const end = new AbortController();
    const tick = async (): Promise<void> => {
      for (;;) {
        await clock.sleep(minuteMs - (clock.now() % minuteMs), end.signal);
        look();
      }
    };
    // Only the tick's end interrupts the sleep.
    void tick().catch(() => undefined);
    let aimed = new AbortController();
    return {
      aim(milliseconds) {
        aimed.abort('rescheduled');
        aimed = new AbortController();
        clock.sleep(milliseconds, aimed.signal).then(look, () => undefined);
      },
      destroy() {
        end.abort();
        aimed.abort();
      },
    };
  };
}
