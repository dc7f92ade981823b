import { rewriteAdvice } from '../src/lib/advice.ts';
import { forgetSecrets } from '../src/lib/redact.ts';
import { showTimesIn } from '../src/lib/time-text.ts';

// Test files share a process, so what a command registers for its process's lifetime must not reach the next file.
forgetSecrets();
rewriteAdvice((text) => text);
showTimesIn();
