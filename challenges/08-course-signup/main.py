"""Participants and waiting lists for the courses of the adult education centre."""

SEATS = {"Pottery": 3, "Spanish A1": 4, "First aid": 2}

REQUESTS = [
    ("Pottery", ["Ines", "Karl", "Mona", "Ola"]),
    ("Spanish A1", ["Karl", "Petra", "Ines"]),
    ("First aid", ["Mona", "Ola", "Sam", "Petra"]),
]


class Course:
    """A course with a fixed number of seats."""

    def __init__(self, title, seats):
        self.title = title
        self.seats = seats
        self.taken = []
        self.waiting = []

    def free(self):
        return self.seats - len(self.taken)


def split(names, seats, placed=[]):
    """Give out the seats in the order of the names.

    Returns the names that got a seat and those that have to wait. Names in `placed` have a seat already.
    """
    waiting = []
    for name in names:
        if len(placed) < seats:
            placed.append(name)
        else:
            waiting.append(name)
    return placed, waiting


def build(requests, seats):
    """Make a Course of every request."""
    courses = []
    for title, names in requests:
        course = Course(title, seats[title])
        course.taken, course.waiting = split(names, course.seats)
        courses.append(course)
    return courses


def describe(course):
    """Lines about one course."""
    yield f"{course.title}: {len(course.taken)} of {course.seats} seats, {course.free()} free"
    yield "  in:      " + ", ".join(course.taken)
    if course.waiting:
        yield "  waiting: " + ", ".join(course.waiting)


def main():
    courses = build(REQUESTS, SEATS)
    for course in courses:
        for line in describe(course):
            print(line)
    print("Free seats:", sum(course.free() for course in courses))


if __name__ == "__main__":
    main()
