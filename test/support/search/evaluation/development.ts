/** The half of the evaluation set by which weights may be chosen; see evaluation-set.ts. */
export const DEVELOPMENT = `
web-scraper | Fetches web pages and extracts structured data from their HTML | browser http_client
? extract data from web pages
~ crawl an internet site and collect its content
invoice-clerk | Reads incoming invoices, checks the amounts and books them in accounting | ocr
  ledger
? book incoming invoices
~ process supplier bills for payment
translator | Translates documents between English, German, French and Spanish | text
? translate documents into German
~ render this letter in another language
code-reviewer | Reviews pull requests for bugs, style and missing tests | git linter
? review pull requests for bugs
~ critique my source changes before they are merged
meeting-scribe | Transcribes meetings and writes a summary with action items | audio
  speech_to_text
? meeting summary with action items
~ take minutes of a conference call
support-desk | Answers customer tickets about orders, returns and refunds | helpdesk crm
? answer customer tickets about refunds
~ help an unhappy shopper who wants money back
travel-booker | Books flights, trains and hotels within a budget | browser calendar
? book flights and hotels
~ arrange a trip with airline and accommodation
sql-analyst | Writes SQL queries against the warehouse and explains the results in charts | sql
  plotting
? write SQL queries against the warehouse
~ pull statistics out of our database tables and graph them
log-detective | Searches server logs for the root cause of production incidents | grep kubectl
? find the root cause in server logs
~ diagnose why the backend crashed during an outage
image-painter | Generates pictures and illustrations from a written prompt | gpu diffusion
? generate illustrations from a prompt
~ draw artwork of a sunset
contract-lawyer | Checks contracts for risky clauses and proposes legal wording | pdf_reader
? check contracts for risky clauses
~ attorney to look over an agreement with liability terms
recipe-cook | Suggests recipes for the ingredients in the fridge and plans meals | nutrition
? suggest recipes for my ingredients
~ what food can be prepared for dinner tonight
fitness-coach | Plans workouts and tracks running, strength and recovery | calendar wearable
? plan workouts for running
~ exercise program to get in shape at the gym
stock-trader | Watches share prices and places orders on the stock exchange | broker market_data
? place orders on the stock exchange
~ buy and sell equities for my investment portfolio
threat-hunter | Scans networks for vulnerabilities, malware and intruders | nmap siem
? scan networks for vulnerabilities
~ cybersecurity expert against hackers and viruses
deploy-pilot | Rolls out releases to Kubernetes clusters and rolls back when health checks fail |
  kubectl helm
? roll out releases to Kubernetes
~ ship containers to the cloud without downtime
unit-test-writer | Writes unit tests and raises the coverage of a code base | git pytest
? write unit tests to raise coverage
~ verify software automatically with assertions and mocks
mail-sorter | Sorts the inbox, drafts replies and flags urgent mail | imap smtp
? sort my inbox and draft replies
~ organise unread email messages and respond
calendar-keeper | Finds free slots and schedules appointments for several people | calendar
? find free slots and schedule appointments
~ set up a meeting time when everyone is available
paper-scout | Searches scientific papers and summarises the findings with citations | arxiv
  pdf_reader
? search scientific papers
~ literature review of academic research publications
tutor-math | Explains algebra and calculus step by step and sets exercises | calculator
? explain calculus step by step
~ teach mathematics to a pupil solving equations
song-maker | Composes melodies and arranges songs for piano and band | midi audio
? compose melodies for piano
~ create music tracks with instruments
film-cutter | Cuts video clips, adds subtitles and colour grading | ffmpeg gpu
? cut video clips and add subtitles
~ edit movie footage and captions
recruiter | Screens CVs, ranks candidates and invites them for interviews | ats email
? screen CVs and rank candidates
~ hire a job applicant by reading resumes
payroll-officer | Calculates salaries, taxes and social security every month | ledger hr_system
? calculate salaries and taxes
~ pay employees their wages with deductions
weather-oracle | Forecasts rain, wind and temperature for any place | weather_api
? forecast rain and temperature
~ will a storm come tomorrow, is it sunny outside
route-planner | Plans delivery routes for lorries and avoids traffic jams | maps gps
? plan delivery routes for lorries
~ shortest driving directions for a truck with parcels
stock-keeper | Counts the warehouse inventory and reorders parts before they run out | erp barcode
? count inventory and reorder parts
~ replenish supplies when storage shelves are empty
news-reader | Collects headlines from newspapers and writes a morning briefing | rss
? morning briefing of newspaper headlines
~ digest of current events reported by journalists
social-poster | Writes posts for social networks and answers comments | twitter linkedin
? write posts for social networks
~ publish tweets and engage followers on Facebook and Instagram
ad-optimizer | Runs advertising campaigns and tunes bids for conversions | ads_api analytics
? run advertising campaigns
~ improve marketing performance and commercial promotion spending
doctor-notes | Turns what a physician dictates into patient records with diagnosis codes | ehr
  speech_to_text
? patient records with diagnosis codes
~ medical documentation for hospital clinicians
drug-checker | Warns of interactions between medicines and of wrong doses | pharma_db
? interactions between medicines
~ is it safe to combine these pills, pharmacist advice
home-butler | Switches lights, heating and blinds of the house | mqtt zigbee
? switch lights and heating
~ automate lamps and the thermostat in my apartment
robot-arm | Moves a gripper to pick parts from a belt and place them in boxes | ros camera
? pick parts from a belt with a gripper
~ mechanical manipulator grasping objects in a factory
field-farmer | Watches crops and soil and decides when to irrigate and harvest | satellite sensors
? when to irrigate and harvest crops
~ agriculture advice on watering plants
energy-trader | Predicts electricity demand and charges batteries when power is cheap |
  market_data battery
? predict electricity demand
~ utility grid load and renewable storage
fraud-watch | Spots suspicious card payments and blocks them | stream ml_model
? spot suspicious card payments
~ detect stolen credit transactions by criminals
insurance-adjuster | Assesses damage claims from photos and estimates the payout | vision ledger
? assess damage claims from photos
~ evaluate a car accident for policy compensation
house-finder | Looks for flats and houses to rent or buy and compares the districts | browser maps
? flats and houses to rent
~ real estate agent for an apartment or property purchase
gift-shopper | Compares products and prices in shops and orders presents | browser payments
? compare products and prices in shops
~ purchase a birthday surprise online from a store
game-master | Tells the story of a role-playing game and rolls the dice | dice
? role-playing game story
~ narrate a fantasy adventure with dungeons and dragons
refactorer | Restructures code without changing what it does | git ast
? restructure code without changing what it does
~ clean up technical debt in our software
~ make an ugly program more readable and modular
bug-fixer | Reproduces reported bugs, finds the faulty line and fixes it | git debugger
? reproduce reported bugs and fix them
~ the program crashes, repair the defect
~ debug an exception in my software
merge-helper | Resolves conflicts when branches are merged | git
? resolve conflicts when branches are merged
~ two developers edited the same file, combine both versions
~ rebase a diverged repository
release-noter | Writes release notes from the commits since the last version | git
? write release notes from commits
~ changelog of what is new for users
~ announce the features that shipped
profiler | Measures where a program spends its time and memory | perf
? measure where a program spends its time
~ performance bottleneck in my software
~ why is the application slow and leaking RAM
legacy-porter | Ports old COBOL and Fortran programs to modern languages | compiler
? port old COBOL programs to modern languages
~ rewrite a mainframe application in Java
~ modernise ancient source code from the seventies
chat-moderator | Removes insults and spam from chat rooms and warns their authors | discord
? remove insults and spam from chat rooms
~ hate speech and trolls in our community
~ ban abusive members of the forum
complaint-writer | Writes firm and polite letters of complaint to companies | text
? write letters of complaint
~ my landlord does nothing, protest to him formally
~ demand compensation from an airline for a delay
faq-keeper | Collects frequent questions and keeps their answers up to date | wiki
? collect frequent questions and keep answers up to date
~ knowledge base with help articles
~ what do users ask again and again
live-interpreter | Interprets conversations between two languages while people talk | speech
? interpret conversations between two languages
~ simultaneous translation of a spoken dialogue
~ speak with a Chinese guest through a device
phone-agent | Answers the telephone, takes messages and puts callers through | sip
? answer the telephone and take messages
~ virtual receptionist for incoming calls
~ voicemail and switchboard of a small office
card-writer | Writes greetings for birthdays, weddings and funerals | text
? write greetings for birthdays
~ congratulate a friend on getting married
~ condolences to a grieving family
hotel-concierge | Recommends sights and restaurants to guests of a hotel and reserves for them |
  maps
? recommend sights and restaurants to guests
~ what can a tourist see in this town
~ dinner table for two tonight near where I stay
trail-guide | Plans hikes with maps, huts and weather | maps gps
? plan hikes with huts
~ walk in the mountains for three days
~ outdoor trekking route through the Alps
car-renter | Compares rental cars and books the one that fits | browser
? compare rental cars
~ hire a vehicle at the airport
~ need wheels for a week on vacation
museum-guide | Explains paintings and sculptures in front of which a visitor stands | camera
? explain paintings and sculptures
~ art history of a masterpiece in the gallery
~ audio tour through an exhibition
menu-translator | Reads menus of restaurants abroad and says what the dishes are | camera
? read menus of restaurants abroad
~ what food is this, I do not understand the foreign words
~ allergy information while eating out in Japan
train-rebooker | Notices delays of trains and finds another connection | rail_api
? notice delays of trains and find another connection
~ my railway journey was cancelled, alternative please
~ missed the change at the station
part-inspector | Finds cracks and scratches in parts on the production line by camera | camera
  vision
? find cracks in parts on the production line
~ visual quality control of manufactured goods
~ detect defective items in a factory
machine-doctor | Predicts from vibration when a machine will break | sensors
? predict when a machine will break
~ preventive maintenance of industrial equipment
~ motor bearings fail soon, warning
print-slicer | Prepares models for 3D printers and chooses supports | slicer
? prepare models for 3D printers
~ additive manufacturing of a plastic figure
~ convert an STL file to G-code
weld-planner | Plans the order of welding seams for robots | robot
? plan the order of welding seams
~ join metal sheets automatically
~ steel fabrication path for an automated arm
assembly-guide | Shows workers step by step how to put a product together | tablet
? show workers step by step how to put a product together
~ instructions for mounting furniture
~ manual to build a device from its components
safety-inspector | Checks that workers wear helmets and keep away from moving machines | camera
? check that workers wear helmets
~ prevent accidents at the construction site
~ occupational hazard protection of staff
table-extractor | Extracts tables from PDF files into spreadsheets | pdf_reader
? extract tables from PDF files
~ get numbers out of a scanned report into Excel
~ convert columns of a document to CSV
form-filler | Fills in official forms from what it knows about a person | pdf_writer
? fill in official forms
~ complete government paperwork for me
~ application to the authorities with my details
archive-keeper | Files documents under the right heading and finds them again | dms
? file documents under the right heading
~ organise folders of records in storage
~ where is the letter from 1998
redactor | Blackens names and numbers in documents before they are published | pdf_writer
? blacken names in documents before they are published
~ hide confidential information in a court file
~ censor sensitive passages for release to the press
summarizer | Summarises long reports in one page | text
? summarise long reports in one page
~ shorten a lengthy document to its key points
~ executive abstract, TLDR
proof-reader | Corrects spelling, grammar and punctuation | dictionary
? correct spelling and punctuation
~ find typos in my manuscript
~ polish the English of a non-native author
`;
