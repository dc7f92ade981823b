import { rewriteAdvice } from '../src/lib/advice.ts';
import { forgetSecrets } from '../src/lib/redact.ts';
import { showTimesIn } from '../src/lib/time-text.ts';

// Test files share a process. What a command registers for the life of its process must not reach the next file.
forgetSecrets();
rewriteAdvice((text) => text);
showTimesIn();
