/* Doubles eleven times: 2,048 processes, each of which ends after a few seconds. */
#include <unistd.h>

int main(void) {
    for (int round = 0; round < 11; round++)
        fork();
    sleep(4);
    return 0;
}
